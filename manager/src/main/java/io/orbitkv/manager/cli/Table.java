package io.orbitkv.manager.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Columns of text; numbers to the right. */
final class Table {
  private final List<String[]> rows = new ArrayList<>();

  Table(String... titles) {
    rows.add(titles);
  }

  Table row(Object... cells) {
    String[] texts = new String[cells.length];
    for (int i = 0; i < cells.length; i++) {
      texts[i] = String.valueOf(cells[i]);
    }
    rows.add(texts);
    return this;
  }

  void print(PrintWriter out) {
    int columns = rows.getFirst().length;
    int[] widths = new int[columns];
    boolean[] numbers = new boolean[columns];
    for (int column = 0; column < columns; column++) {
      numbers[column] = rows.size() > 1;
      for (int row = 0; row < rows.size(); row++) {
        String cell = rows.get(row)[column];
        widths[column] = Math.max(widths[column], cell.length());
        numbers[column] &= row == 0 || cell.matches("[\\d.,%-]+( [KMGTPE]?i?B)?");
      }
    }
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < columns; column++) {
        String pad = " ".repeat(widths[column] - row[column].length());
        line.append(column == 0 ? "" : "  ");
        line.append(numbers[column] ? pad + row[column] : row[column] + pad);
      }
      out.println(line.toString().stripTrailing());
    }
  }
}
