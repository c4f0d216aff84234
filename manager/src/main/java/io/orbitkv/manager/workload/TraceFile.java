package io.orbitkv.manager.workload;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.config.FileTrouble;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * A trace in Mooncake's format: a JSON object a line, in a file that may be compressed by gzip.
 *
 * <pre>
 * {"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}
 * </pre>
 *
 * Other fields are passed over. The file is read as it comes from anybody: lines, requests and
 * blocks are bounded, and what is wrong is told with the number of its line.
 */
public final class TraceFile {
  /** The longest line, in bytes. */
  static final int MAX_LINE_BYTES = 1 << 20;

  /** The most blocks of one request; a Manager takes no more keys in one. */
  static final int MAX_BLOCKS = 32_768;

  /** The most blocks of all requests: 400 MB of heap. */
  static final long MAX_TOTAL_BLOCKS = 50_000_000;

  private static final int MAX_REQUESTS = 10_000_000;
  private static final int GZIP_MAGIC = 0x8b1f;
  private static final String FORMAT =
      "each line is a JSON object {\"timestamp\": MILLISECONDS, \"input_length\": TOKENS,"
          + " \"output_length\": TOKENS, \"hash_ids\": [NUMBER, ...]}";
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private final Path file;
  private final List<TraceRequest> requests = new ArrayList<>();
  private long totalBlocks;
  private long line;

  private TraceFile(Path file) {
    this.file = file;
  }

  /**
   * Reads the first requests of a file.
   *
   * @param maxRequests how many, at least 1
   * @throws Failure if the file cannot be read or is malformed, naming the line
   */
  public static Trace read(Path file, int maxRequests) {
    return new TraceFile(file).read(Math.min(maxRequests, MAX_REQUESTS));
  }

  private Trace read(int maxRequests) {
    try (InputStream in = open()) {
      byte[] buffer = new byte[4096];
      int length = 0;
      int next = 0;
      while (requests.size() < maxRequests && next >= 0) {
        next = in.read();
        if (next >= 0 && next != '\n') {
          if (length == MAX_LINE_BYTES) {
            line++;
            throw bad("is longer than " + MAX_LINE_BYTES + " bytes");
          }
          if (length == buffer.length) {
            buffer = Arrays.copyOf(buffer, 2 * length);
          }
          buffer[length++] = (byte) next;
          continue;
        }
        line++;
        String text = new String(buffer, 0, length, StandardCharsets.UTF_8).strip();
        length = 0;
        if (!text.isEmpty()) {
          requests.add(parse(text));
        }
      }
    } catch (IOException unreadable) {
      throw new Failure(
          line == 0
              ? file + " cannot be read: " + FileTrouble.text(unreadable)
              : file + " cannot be read after line " + line + ": " + FileTrouble.text(unreadable),
          "give a file of JSON lines, plain or compressed by gzip",
          unreadable);
    }
    if (requests.isEmpty()) {
      throw new Failure(file + " has no requests", FORMAT);
    }
    return new Trace(requests, Trace.MOONCAKE_BLOCK_TOKENS);
  }

  private InputStream open() throws IOException {
    BufferedInputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    try {
      in.mark(2);
      int magic = in.read() | in.read() << 8;
      in.reset();
      return magic == GZIP_MAGIC
          ? new BufferedInputStream(new GZIPInputStream(in, 1 << 16), 1 << 16)
          : in;
    } catch (IOException | RuntimeException failed) {
      in.close();
      throw failed;
    }
  }

  private TraceRequest parse(String text) {
    Long timestamp = null;
    Long input = null;
    Long output = null;
    long[] blocks = null;
    try (JsonParser json = JSON.createParser(text)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw bad("is no JSON object");
      }
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String field = json.currentName();
        json.nextToken();
        switch (field) {
          case "timestamp" -> timestamp = number(json, field, Long.MAX_VALUE);
          case "input_length" -> input = number(json, field, Integer.MAX_VALUE);
          case "output_length" -> output = number(json, field, Integer.MAX_VALUE);
          case "hash_ids" -> blocks = numbers(json);
          default -> json.skipChildren();
        }
      }
      if (json.nextToken() != null) {
        throw bad("goes on behind its JSON object");
      }
    } catch (JacksonException malformed) {
      throw bad("is no JSON: " + malformed.getOriginalMessage());
    } catch (IOException impossible) {
      throw new IllegalStateException("a text in memory was not readable", impossible);
    }
    if (blocks == null) {
      throw bad("has no hash_ids");
    }
    if (timestamp == null || input == null || output == null) {
      throw bad(
          "has no "
              + (timestamp == null
                  ? "timestamp"
                  : input == null ? "input_length" : "output_length"));
    }
    totalBlocks += blocks.length;
    if (totalBlocks > MAX_TOTAL_BLOCKS) {
      throw bad("brings the trace to more than " + MAX_TOTAL_BLOCKS + " blocks");
    }
    return new TraceRequest(timestamp, input.intValue(), output.intValue(), blocks);
  }

  private long number(JsonParser json, String field, long most) throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NUMBER_FLOAT
        && json.getDoubleValue() == Math.rint(json.getDoubleValue())
        && json.getDoubleValue() >= 0
        && json.getDoubleValue() <= 1L << 53) {
      return Math.min((long) json.getDoubleValue(), most);
    }
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT
        || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER
        || json.getLongValue() < 0
        || json.getLongValue() > most) {
      throw bad(field + " is no whole number from 0 to " + most);
    }
    return json.getLongValue();
  }

  private long[] numbers(JsonParser json) throws IOException {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw bad("hash_ids is no list");
    }
    long[] numbers = new long[32];
    int count = 0;
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (json.currentToken() != JsonToken.VALUE_NUMBER_INT
          || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
        throw bad("hash_ids[" + count + "] is no whole number of 64 bits");
      }
      if (count == MAX_BLOCKS) {
        throw bad("has more than " + MAX_BLOCKS + " hash_ids");
      }
      if (count == numbers.length) {
        numbers = Arrays.copyOf(numbers, 2 * count);
      }
      numbers[count++] = json.getLongValue();
    }
    return Arrays.copyOf(numbers, count);
  }

  private Failure bad(String problem) {
    return new Failure(file + " line " + line + " " + problem, FORMAT);
  }
}
