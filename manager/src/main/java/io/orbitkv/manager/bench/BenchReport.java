package io.orbitkv.manager.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.manager.Version;
import io.orbitkv.manager.bench.Figure.Verdict;
import io.orbitkv.manager.bench.TextTable.Side;
import io.orbitkv.manager.cli.Failure;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The figures of one benchmark, as a table for people and as JSON for scripts. */
public final class BenchReport {
  private final String bench;
  private final List<Figure> figures = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  /**
   * @param bench its name, such as {@code ipc}
   */
  public BenchReport(String bench) {
    this.bench = bench;
  }

  public void add(Figure figure) {
    figures.add(figure);
  }

  /** Adds a line below the table: how it was measured. */
  public void note(String line) {
    notes.add(line);
  }

  public List<Figure> figures() {
    return List.copyOf(figures);
  }

  /** Whether no figure misses its target. */
  public boolean met() {
    return figures.stream().noneMatch(figure -> figure.verdict() == Verdict.MISSED);
  }

  /** The lines of the table and the notes. */
  public List<String> lines() {
    TextTable table =
        new TextTable()
            .column("bench " + bench, Side.LEFT)
            .column("target", Side.LEFT)
            .column("measured", Side.RIGHT)
            .column("floor", Side.RIGHT)
            .column("ratio", Side.RIGHT)
            .column("verdict", Side.LEFT);
    for (Figure figure : figures) {
      table.row(
          figure.name(),
          figure.target(),
          figure.unit().text(figure.measured()),
          figure.floor().isPresent() ? figure.unit().text(figure.floor().getAsDouble()) : "",
          figure.ratio().isPresent()
              ? String.format(Locale.ROOT, "%.2f", figure.ratio().getAsDouble())
              : "",
          switch (figure.verdict()) {
            case MET -> "met";
            case MISSED -> "MISSED";
            case NONE -> "";
          });
    }
    List<String> lines = new ArrayList<>(table.lines());
    lines.add("");
    lines.addAll(notes);
    lines.add(machine());
    return lines;
  }

  /** The JSON. */
  public ObjectNode json() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("bench", bench);
    root.put("version", Version.TEXT);
    root.put("machine", machine());
    root.put("met", met());
    ArrayNode list = root.putArray("figures");
    for (Figure figure : figures) {
      ObjectNode node = list.addObject();
      node.put("name", figure.name());
      node.put("target", figure.target());
      node.put("unit", figure.unit().symbol());
      node.put("measured", figure.measured());
      figure.floor().ifPresent(floor -> node.put("floor", floor));
      figure.ratio().ifPresent(ratio -> node.put("ratio", ratio));
      node.put("verdict", figure.verdict().name().toLowerCase(Locale.ROOT));
    }
    ArrayNode texts = root.putArray("notes");
    notes.forEach(texts::add);
    return root;
  }

  /**
   * Prints the table and writes the JSON.
   *
   * @param file where the JSON goes, null for nowhere
   * @throws Failure if the file cannot be written
   */
  public void publish(PrintWriter out, @Nullable Path file) {
    lines().forEach(out::println);
    out.flush();
    if (file != null) {
      write(json(), file);
    }
  }

  static void write(ObjectNode json, Path file) {
    try {
      Files.writeString(
          file,
          new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(json) + "\n");
    } catch (IOException failed) {
      throw new Failure(
          "cannot write " + file + ": " + failed.getMessage(),
          "name a file in a folder that exists and can be written",
          failed);
    }
  }

  private static String machine() {
    return "%d processors, %s %s, Java %s"
        .formatted(
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("os.name"),
            System.getProperty("os.arch"),
            Runtime.version().feature());
  }
}
