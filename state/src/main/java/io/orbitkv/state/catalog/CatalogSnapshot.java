package io.orbitkv.state.catalog;

import io.orbitkv.state.catalog.Handoff.Step;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A catalog shard's state as bytes: the same state gives the same bytes on every member. It is
 * small, so that it is text that a person can read, in US-ASCII with a line feed after each line:
 *
 * <pre>
 *   orbitkv-catalog 1
 *   shard 3
 *   position 17
 *   placement 2 host-a,host-b,host-c             absent before the catalog shard was founded
 *   attempts 3 1                                 handoffs attempted, and the one that made the placement
 *   handoff 3 PREPARED host-a,host-d host-a,host-b,host-c     attempt, target, former members; absent if none is open
 *   owner host-a 0e9c4a3e-... 5 open             any number, in the order of the names; or: fenced
 *   crc32c 1f2e3d4c                              of all bytes before this line
 * </pre>
 */
public final class CatalogSnapshot {
  private static final String FORMAT = "orbitkv-catalog 1";
  private static final String CRC = "crc32c ";

  /** A snapshot that cannot be used. */
  public static final class Damaged extends Exception {
    private static final long serialVersionUID = 1L;

    Damaged(String what) {
      super(what);
    }
  }

  private CatalogSnapshot() {}

  /** The state's bytes. */
  public static byte[] write(CatalogState state) {
    StringBuilder text = new StringBuilder(FORMAT).append('\n');
    text.append("shard ").append(state.catalogShard()).append('\n');
    text.append("position ").append(state.position()).append('\n');
    Placement placement = state.placement();
    if (placement != null) {
      text.append("placement ").append(placement.generation()).append(' ');
      text.append(names(placement.members())).append('\n');
    }
    text.append("attempts ").append(state.lastAttempt()).append(' ');
    text.append(state.committedAttempt()).append('\n');
    Handoff handoff = state.handoff();
    if (handoff != null) {
      text.append("handoff ").append(handoff.attempt()).append(' ');
      text.append(handoff.step().name()).append(' ');
      text.append(names(handoff.target())).append(' ').append(names(handoff.former())).append('\n');
    }
    state
        .owners()
        .forEach(
            (owner, stream) ->
                text.append("owner ")
                    .append(owner.text())
                    .append(' ')
                    .append(stream.runtime())
                    .append(' ')
                    .append(stream.epoch())
                    .append(stream.fenced() ? " fenced\n" : " open\n"));
    byte[] body = text.toString().getBytes(StandardCharsets.US_ASCII);
    byte[] end = (CRC + crc(body, body.length) + "\n").getBytes(StandardCharsets.US_ASCII);
    byte[] all = Arrays.copyOf(body, body.length + end.length);
    System.arraycopy(end, 0, all, body.length, end.length);
    return all;
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws Damaged if a byte is missing, too many or wrong, or the state contradicts itself
   */
  public static CatalogState read(byte[] bytes) throws Damaged {
    int endBytes = CRC.length() + 9;
    int bodyBytes = bytes.length - endBytes;
    String end =
        bodyBytes < 0 ? "" : new String(bytes, bodyBytes, endBytes, StandardCharsets.US_ASCII);
    if (!end.equals(CRC + crc(bytes, Math.max(0, bodyBytes)) + "\n")) {
      throw new Damaged("the snapshot is cut off or changed: its checksum does not fit");
    }
    try {
      CatalogState state =
          new Reader(new String(bytes, 0, bodyBytes, StandardCharsets.US_ASCII)).state();
      CatalogInvariants.check(state);
      return state;
    } catch (IllegalArgumentException | IndexOutOfBoundsException | BrokenCatalog wrong) {
      throw new Damaged("the snapshot makes no sense: " + wrong.getMessage());
    }
  }

  /** A number by which members compare their states: the first eight bytes of a SHA-256. */
  public static long digest(CatalogState state) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(write(state));
      return ByteBuffer.wrap(hash).getLong();
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("every JDK has SHA-256", missing);
    }
  }

  private static String crc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return String.format("%08x", crc.getValue());
  }

  private static String names(List<NodeId> nodes) {
    return nodes.stream().map(NodeId::text).collect(Collectors.joining(","));
  }

  /** Takes the lines one after the other. */
  private static final class Reader {
    private final List<String> lines;
    private int next;

    Reader(String text) {
      lines = text.lines().toList();
    }

    CatalogState state() {
      if (!FORMAT.equals(lines.get(next++))) {
        throw new IllegalArgumentException("it is not of format 1");
      }
      int shard = Integer.parseInt(words("shard", 1).getFirst());
      long position = Long.parseLong(words("position", 1).getFirst());
      Placement placement = null;
      if (follows("placement")) {
        List<String> words = words("placement", 2);
        placement = new Placement(shard, Long.parseLong(words.get(0)), nodes(words.get(1)));
      }
      List<String> attempts = words("attempts", 2);
      Handoff handoff = handoff();
      TreeMap<NodeId, OwnerStream> owners = new TreeMap<>();
      while (follows("owner")) {
        List<String> words = words("owner", 4);
        owners.put(
            new NodeId(words.get(0)),
            new OwnerStream(
                UUID.fromString(words.get(1)), Long.parseLong(words.get(2)), fenced(words.get(3))));
      }
      if (next != lines.size()) {
        throw new IllegalArgumentException("line " + (next + 1) + " is none of the format");
      }
      return new CatalogState(
          shard,
          position,
          placement,
          Long.parseLong(attempts.get(0)),
          Long.parseLong(attempts.get(1)),
          handoff,
          owners);
    }

    private @Nullable Handoff handoff() {
      if (!follows("handoff")) {
        return null;
      }
      List<String> words = words("handoff", 4);
      return new Handoff(
          Long.parseLong(words.get(0)),
          Step.valueOf(words.get(1)),
          nodes(words.get(2)),
          nodes(words.get(3)));
    }

    private static boolean fenced(String word) {
      return switch (word) {
        case "open" -> false;
        case "fenced" -> true;
        default -> throw new IllegalArgumentException("a stream is " + word);
      };
    }

    private boolean follows(String name) {
      return next < lines.size() && lines.get(next).startsWith(name + " ");
    }

    private List<String> words(String name, int count) {
      List<String> words = List.of(lines.get(next).split(" ", -1));
      if (!words.getFirst().equals(name) || words.size() != count + 1) {
        throw new IllegalArgumentException("line " + (next + 1) + " is no " + name);
      }
      next++;
      return words.subList(1, words.size());
    }

    private static List<NodeId> nodes(String names) {
      List<NodeId> nodes = new ArrayList<>();
      for (String name : names.split(",", -1)) {
        nodes.add(new NodeId(name));
      }
      return nodes;
    }
  }
}
