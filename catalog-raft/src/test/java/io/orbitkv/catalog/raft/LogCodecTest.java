package io.orbitkv.catalog.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.CatalogCommand.CaughtUp;
import io.orbitkv.state.catalog.CatalogCommand.CommitHandoff;
import io.orbitkv.state.catalog.CatalogCommand.FenceOwner;
import io.orbitkv.state.catalog.CatalogCommand.ForgetOwner;
import io.orbitkv.state.catalog.CatalogCommand.Found;
import io.orbitkv.state.catalog.CatalogCommand.OpenStream;
import io.orbitkv.state.catalog.CatalogCommand.PrepareHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RetireHandoff;
import io.orbitkv.state.catalog.CatalogCommand.RollBackHandoff;
import io.orbitkv.state.catalog.CatalogRefusal;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.catalog.Placement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

class LogCodecTest {
  private static final NodeId A = new NodeId("a");
  private static final NodeId B = new NodeId("b");
  private static final List<CatalogCommand> EACH =
      List.of(
          new Found(List.of(A, B)),
          new OpenStream(A, new UUID(-1, 2), 3),
          new FenceOwner(A, 3),
          new ForgetOwner(A, 3),
          new PrepareHandoff(1, 0, List.of(B)),
          new CaughtUp(1),
          new CommitHandoff(1),
          new RetireHandoff(1),
          new RollBackHandoff(2));

  @Test
  void shouldReadEveryCommandBack() throws LogCodec.Malformed {
    assertEquals(EACH, LogCodec.commands(LogCodec.commands(EACH)));
  }

  /** Logs are read by later versions: these bytes must never mean anything else. */
  @Test
  void shouldWriteTheBytesThatLogsHave() {
    assertEquals(
        "0a080a060a01610a01620a1912170a016111ffffffffffffffff1902000000000000002003"
            + "0a071a050a016110030a0722050a016110030a072a0508011a01620a0230010a0238010a0240010a024802",
        HexFormat.of().formatHex(LogCodec.commands(EACH).toByteArray()));
  }

  @Test
  void shouldReadEveryAnswerBack() throws LogCodec.Malformed {
    List<CatalogAnswer> answers = new ArrayList<>();
    Placement placement = new Placement(3, 7, List.of(A, B));
    answers.add(new CatalogAnswer.Accepted(9, null));
    answers.add(new CatalogAnswer.Accepted(9, placement));
    for (CatalogRefusal refusal : CatalogRefusal.values()) {
      answers.add(new CatalogAnswer.Refused(refusal, placement));
    }
    assertEquals(answers, LogCodec.answers(3, LogCodec.answers(answers)));
  }

  @Test
  void shouldCallBytesMalformedThatAreNoCommands() {
    for (String bytes :
        List.of("", "0a00", "0a02ff01", "ff", "0a080a060a01410a0162", "0a0a120811ffffffff00")) {
      ByteString some = ByteString.copyFrom(HexFormat.of().parseHex(bytes));
      assertThrows(LogCodec.Malformed.class, () -> LogCodec.commands(some), bytes);
    }
    assertThrows(LogCodec.Malformed.class, () -> LogCodec.answers(3, LogCodec.malformed()));
  }
}
