package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.orbitkv.manager.bench.TextTable.Side;
import java.util.List;
import org.junit.jupiter.api.Test;

class TextTableTest {

  @Test
  void shouldAlignColumns() {
    TextTable table =
        new TextTable()
            .column("what", Side.LEFT)
            .column("measured", Side.RIGHT)
            .column("verdict", Side.LEFT)
            .row("a longer name", "1", "met")
            .row("b", "123,456,789", "");
    assertEquals(
        List.of(
            "what              measured  verdict",
            "-------------  -----------  -------",
            "a longer name            1  met",
            "b              123,456,789"),
        table.lines());
  }

  @Test
  void shouldLeaveEmptyTitlesOut() {
    assertEquals(
        List.of("a   1", "bb  2"),
        new TextTable()
            .column("", Side.LEFT)
            .column("", Side.RIGHT)
            .row("a", "1")
            .row("bb", "2")
            .lines());
  }

  @Test
  void shouldRefuseRowsThatDoNotFit() {
    TextTable table = new TextTable().column("a", Side.LEFT).row("1");
    assertThrows(IllegalArgumentException.class, () -> table.row("1", "2"));
    assertThrows(IllegalStateException.class, () -> table.column("late", Side.LEFT));
  }
}
