package io.orbitkv.manager.bench;

import java.util.ArrayList;
import java.util.List;

/** A table for a terminal: plain ASCII, columns as wide as they must be. */
public final class TextTable {
  /** On which side a column's texts stand. */
  public enum Side {
    LEFT,
    RIGHT
  }

  private static final String GAP = "  ";

  private final List<String> titles = new ArrayList<>();
  private final List<Side> sides = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();

  /** Adds a column; before the first row. */
  public TextTable column(String title, Side side) {
    if (!rows.isEmpty()) {
      throw new IllegalStateException("columns come before rows");
    }
    titles.add(title);
    sides.add(side);
    return this;
  }

  /** Adds a row. */
  public TextTable row(String... cells) {
    if (cells.length != titles.size()) {
      throw new IllegalArgumentException(cells.length + " cells in " + titles.size() + " columns");
    }
    rows.add(List.of(cells));
    return this;
  }

  /** The lines, without trailing blanks; titles only if one of them is not empty. */
  public List<String> lines() {
    int[] widths = new int[titles.size()];
    for (int c = 0; c < widths.length; c++) {
      widths[c] = titles.get(c).length();
      for (List<String> row : rows) {
        widths[c] = Math.max(widths[c], row.get(c).length());
      }
    }
    List<String> lines = new ArrayList<>();
    if (titles.stream().anyMatch(title -> !title.isEmpty())) {
      lines.add(line(titles, widths));
      List<String> rule = new ArrayList<>();
      for (int width : widths) {
        rule.add("-".repeat(width));
      }
      lines.add(line(rule, widths));
    }
    for (List<String> row : rows) {
      lines.add(line(row, widths));
    }
    return lines;
  }

  private String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int c = 0; c < widths.length; c++) {
      String cell = cells.get(c);
      String blanks = " ".repeat(widths[c] - cell.length());
      line.append(c == 0 ? "" : GAP);
      line.append(sides.get(c) == Side.LEFT ? cell + blanks : blanks + cell);
    }
    return line.toString().stripTrailing();
  }
}
