package io.orbitkv.core;

import io.orbitkv.core.Command.CancelTarget;
import io.orbitkv.core.Command.EvictSelector;
import io.orbitkv.core.Command.GroupKeys;
import io.orbitkv.core.Command.GroupTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Plays a script against a loop and writes down what happens.
 *
 * <pre>
 *   # a remark
 *   > publish s1 p ab        a command: who, request name, one key for each letter
 *     SlicesReserved[...]    the facts it made, in order
 *   < #2 Published[...]      the answer to the second command, whenever it comes
 * </pre>
 *
 * Copies run at {@code > copies}, time passes at {@code > wait MILLIS}, and {@code > crash} goes on
 * with what a journal would have kept.
 */
final class Transcript {
  private final StringBuilder text = new StringBuilder();
  private final Map<String, Long> sessions = new HashMap<>();
  private final List<TestLoop.Answers> sinks = new ArrayList<>();
  private final List<Integer> told = new ArrayList<>();
  private final List<Fact> facts = new ArrayList<>();
  private final Map<String, FakeBuffers> buffers = new HashMap<>();
  private final HostState kept = new HostState();
  private TestLoop loop = new TestLoop(config());

  private static HostConfig config() {
    return TestLoop.config(6).leaseTtlMillis(10_000).ticketMillis(1_000).build();
  }

  /** The script of a transcript played anew, with everything that came of it. */
  static String play(String transcript) {
    Transcript player = new Transcript();
    transcript
        .lines()
        .filter(line -> line.startsWith(">") || line.startsWith("#") || line.isEmpty())
        .forEach(player::line);
    player.loop.check(player.kept);
    return player.text.toString();
  }

  private void line(String line) {
    text.append(line).append('\n');
    if (line.startsWith(">")) {
      String[] words = line.substring(1).trim().split(" +");
      command(words);
      note();
    }
  }

  private void command(String[] words) {
    switch (words[0]) {
      case "copies" -> loop.drain();
      case "fail" -> {
        FakeBuffers broken = Objects.requireNonNull(buffers.get(words[1]));
        broken.failure = new IllegalStateException("bus error");
      }
      case "damage" -> loop.pool.asSlice(Long.parseLong(words[1]), 64).fill((byte) 99);
      case "wait" -> {
        loop.clock.advanceMillis(Long.parseLong(words[1]));
        loop.step();
      }
      case "journal" -> loop.log.full = words[1].equals("full");
      case "crash" -> crash();
      default -> send(parse(words));
    }
  }

  private void crash() {
    for (Fact fact : loop.log.facts) {
      kept.apply(fact, Effects.NONE);
    }
    HostState recovered = new HostState();
    facts.addAll(loop.log.facts);
    for (Fact fact : facts) {
      recovered.apply(fact, Effects.NONE);
    }
    loop = new TestLoop(config(), recovered, loop.clock);
  }

  private FakeBuffers fresh(String name) {
    FakeBuffers pages = FakeBuffers.of(1, Formats.LAYERS, TestLoop.BLOCKS, Formats.LAYER_BYTES);
    buffers.put(name, pages);
    return pages;
  }

  private void send(Command.Request command) {
    TestLoop.Answers sink = (TestLoop.Answers) command.replyTo();
    sinks.add(sink);
    told.add(0);
    loop.send(command);
    if (command instanceof Command.Register register
        && !sink.replies.isEmpty()
        && sink.last() instanceof Reply.Registered opened) {
      sessions.put(register.instance() + "." + register.shard(), opened.sessionId());
    }
  }

  private Command.Request parse(String[] words) {
    TestLoop.Answers sink = new TestLoop.Answers();
    String last = words[words.length - 1];
    return switch (words[0]) {
      case "register" -> register(words, sink);
      case "publish" ->
          new Command.Publish(
              session(words[1]),
              words[2],
              0,
              TestLoop.keys(words[3]),
              TestLoop.upTo(words[3].length()),
              sink);
      case "query" ->
          new Command.Query(
              session(words[1]),
              words[2],
              0,
              0,
              List.of(new GroupKeys(0, TestLoop.keys(words[3]))),
              switch (last) {
                case "wait", "replace" -> QueryMode.WAIT;
                case "discover" -> QueryMode.DISCOVER;
                default -> QueryMode.LEASE;
              },
              0,
              last.equals("replace"),
              sink);
      case "poll" -> new Command.Poll(session(words[1]), "poll", Long.parseLong(words[2]), sink);
      case "cancel" ->
          new Command.Cancel(
              session(words[1]), "cancel", new CancelTarget.Ticket(Long.parseLong(words[2])), sink);
      case "restore" ->
          new Command.Restore(
              session(words[1]),
              words[2],
              Long.parseLong(words[3]),
              List.of(
                  new GroupTarget(
                      0, 0, Arrays.stream(words).skip(4).mapToInt(Integer::parseInt).toArray())),
              false,
              null,
              sink);
      case "release" ->
          new Command.Release(session(words[1]), "release", Long.parseLong(words[2]), sink);
      case "close" ->
          new Command.CloseSession(session(words[1]), SessionEnd.valueOf(words[2]), sink);
      case "cleanup" ->
          new Command.CleanupInstance(words[1], words.length > 2 ? session(words[2]) : 0, sink);
      case "evict" ->
          new Command.Evict(
              words[1].equals("all")
                  ? new EvictSelector.All()
                  : new EvictSelector.OfKeys("ns", 0, TestLoop.keys(words[1])),
              sink);
      case "shutdown" -> new Command.Shutdown(words[1], sink);
      default -> throw new IllegalArgumentException("no such command: " + words[0]);
    };
  }

  /** {@code register INSTANCE SHARD SHARDS [DTYPE]}; the session is called INSTANCE.SHARD. */
  private Command.Register register(String[] words, TestLoop.Answers sink) {
    int shard = Integer.parseInt(words[2]);
    String dtype = words.length > 4 ? words[4] : "bf16";
    return new Command.Register(
        words[1],
        "ns",
        Formats.of(dtype, Formats.prefix(0)),
        shard,
        Integer.parseInt(words[3]),
        SessionRole.LOAD,
        100,
        1000,
        0,
        fresh(words[1] + "." + shard),
        sink);
  }

  private long session(String name) {
    Long id = sessions.get(name);
    return id == null ? Long.parseLong(name) : id;
  }

  private void note() {
    for (String fact : loop.facts().lines().toList()) {
      text.append("  ")
          .append(
              fact.replaceAll("checksums=\\[[^]]*]", "checksums=...")
                  .replaceAll("settings=.*]", "settings=...]")
                  .replaceAll("digest=-?\\d+", "digest=...")
                  .replaceAll("format=.*, shardCount", "format=..., shardCount"))
          .append('\n');
    }
    for (int i = 0; i < sinks.size(); i++) {
      List<Reply> replies = sinks.get(i).replies;
      for (int at = told.get(i); at < replies.size(); at++) {
        text.append("< #").append(i + 1).append(' ').append(describe(replies.get(at))).append('\n');
      }
      told.set(i, replies.size());
    }
  }

  private static String describe(Reply reply) {
    return switch (reply) {
      case Reply.Ready ready ->
          "Ready[lease=%d, ticket=%d, boundary=%d, ranges=%s, found=%s, boundaries=%s]"
              .formatted(
                  ready.leaseId(),
                  ready.ticketId(),
                  ready.boundaryToken(),
                  ready.ranges(),
                  Arrays.toString(ready.foundBlocks()),
                  ready.boundaries());
      case Reply.Missed missed ->
          "Missed[ticket=%d, found=%s, expired=%s]"
              .formatted(
                  missed.ticketId(), Arrays.toString(missed.foundBlocks()), missed.expired());
      case Reply.Discovered found ->
          "Discovered[ranges=%s, boundaries=%s]".formatted(found.ranges(), found.boundaries());
      case Reply.Published published ->
          "Published[outcomes=%s, bytes=%d, why=%s]"
              .formatted(Arrays.toString(published.outcomes()), published.bytes(), published.why());
      default -> reply.toString();
    };
  }
}
