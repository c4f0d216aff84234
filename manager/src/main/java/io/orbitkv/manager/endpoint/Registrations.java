package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.RegisterCheck;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.PayloadLimits;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.core.Command;
import io.orbitkv.core.Reply;
import io.orbitkv.core.copy.EngineBuffers;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.copy.SlotBoard;
import io.orbitkv.core.copy.StagedBuffers;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.PeerCredentials;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Registrations on their way: everything that can fail for want of memory or descriptors is done
 * before the loop decides, so that a refusal has promised nothing. Control thread, but for the
 * sinks.
 */
final class Registrations {
  private static final ChannelGeometry GEOMETRY = ChannelGeometry.STANDARD;

  /** What became of a registration before the loop has seen it. */
  sealed interface Prepared {
    record Bad(Refusal refusal) implements Prepared {}

    /**
     * It can be decided.
     *
     * @param buffers null without layers of its own
     * @param board null without staged buffers of its own; its buffers close it
     */
    record Good(
        Register register,
        PeerCredentials peer,
        @Nullable StateFormat format,
        @Nullable EngineBuffers buffers,
        @Nullable BoardMemory board,
        ChannelMemory memory)
        implements Prepared {

      long attachTo() {
        Long to = register.attachTo();
        return to == null ? 0 : to;
      }

      /** Gives back what was made for it. */
      void giveBack() {
        if (buffers != null) {
          buffers.close();
        }
        memory.close();
      }
    }
  }

  private final ChannelPoller poller;
  private final PayloadLimits limits;
  private final Consumer<Runnable> later;
  private final SignalGuard guard;
  private volatile @Nullable StagedMemory stagedMemory;

  /** The groups and layers of open sessions, for those that attach to them. Loop thread. */
  private final Map<Long, SessionShape> shapes = new HashMap<>();

  /**
   * @param later runs the unmapping of engines' memory on the control thread
   * @param guard watches the signals to clients
   */
  Registrations(
      ChannelPoller poller, PayloadLimits limits, Consumer<Runnable> later, SignalGuard guard) {
    this.poller = poller;
    this.limits = limits;
    this.later = later;
    this.guard = guard;
  }

  Prepared prepare(Register register, List<OwnedFd> descriptors, PeerCredentials peer) {
    Refusal problem = RegisterCheck.problem(register);
    int due = register.descriptors();
    if (problem == null && descriptors.size() != due) {
      problem =
          Refusal.of(
              RefusalCode.BAD_FD_COUNT,
              "%d descriptors for %d buffers".formatted(descriptors.size(), due));
    }
    if (problem != null) {
      return new Prepared.Bad(problem);
    }
    return switch (format(register)) {
      case Decoded.Bad<MaybeFormat>(Refusal refusal) -> new Prepared.Bad(refusal);
      case Decoded.Good<MaybeFormat>(MaybeFormat format) ->
          prepare(register, format.value(), descriptors, peer);
    };
  }

  private record MaybeFormat(@Nullable StateFormat value) {}

  private static Decoded<MaybeFormat> format(Register register) {
    Register.Format format = register.format();
    List<Register.Group> groups = register.groups();
    if (format == null || groups == null) {
      return Decoded.good(new MaybeFormat(null));
    }
    return switch (Formats.format(format, groups)) {
      case Decoded.Bad<StateFormat>(Refusal refusal) -> new Decoded.Bad<>(refusal);
      case Decoded.Good<StateFormat>(StateFormat value) -> Decoded.good(new MaybeFormat(value));
    };
  }

  private Prepared prepare(
      Register register,
      @Nullable StateFormat format,
      List<OwnedFd> descriptors,
      PeerCredentials peer) {
    List<Register.Buffer> buffers = register.buffers();
    List<Register.Layer> layers = register.layers();
    EngineBuffers mapped = null;
    BoardMemory board = null;
    Register.Staging staging = register.staging();
    if (staging != null && buffers != null && layers != null) {
      switch (staged(staging, buffers, layers)) {
        case Decoded.Bad<Staged>(Refusal refusal) -> {
          return new Prepared.Bad(refusal);
        }
        case Decoded.Good<Staged>(Staged good) -> {
          mapped = good.buffers();
          board = good.board();
        }
      }
    } else if (buffers != null && layers != null && !layers.isEmpty()) {
      switch (EngineMemory.map(buffers, layers, descriptors, later)) {
        case Decoded.Bad<EngineBuffers>(Refusal refusal) -> {
          return new Prepared.Bad(refusal);
        }
        case Decoded.Good<EngineBuffers>(EngineBuffers good) -> mapped = good;
      }
    }
    try {
      return new Prepared.Good(
          register, peer, format, mapped, board, ChannelMemory.create(GEOMETRY, guard));
    } catch (NativeException scarce) {
      if (mapped != null) {
        mapped.close();
      }
      return new Prepared.Bad(
          Refusal.of(RefusalCode.TOO_MANY_SESSIONS, "no channel: " + scarce.getMessage())
              .withRetry(1_000));
    }
  }

  private record Staged(StagedBuffers buffers, BoardMemory board) {}

  private Decoded<Staged> staged(
      Register.Staging staging, List<Register.Buffer> buffers, List<Register.Layer> layers) {
    StagedMemory memory = stagedMemory;
    if (memory == null) {
      return Decoded.bad(RefusalCode.BUFFER_KIND, "buffers[0].kind", "no GPU is served here");
    }
    long[] sizes = buffers.stream().mapToLong(Register.Buffer::bytes).toArray();
    GroupLayout.All layouts = GroupLayout.compileAll(EngineMemory.layouts(layers), sizes);
    GroupLayout.Problem problem = layouts.problem();
    if (problem != null) {
      return Decoded.bad(RefusalCode.BAD_VALUE, problem.field(), problem.message());
    }
    for (GroupLayout layout : layouts.layouts().values()) {
      if (layout.extentBytes() > staging.slotBytes() || layout.layerCount() > SlotBoard.MAX_SUMS) {
        return Decoded.bad(
            RefusalCode.BAD_VALUE,
            "staging.slotBytes",
            "a block of group %d takes %d bytes".formatted(layout.groupId(), layout.extentBytes()));
      }
    }
    BoardMemory board;
    try {
      board = BoardMemory.create(staging.loadSlots(), staging.saveSlots(), guard);
    } catch (NativeException scarce) {
      return new Decoded.Bad<>(
          Refusal.of(RefusalCode.TOO_MANY_SESSIONS, "no board: " + scarce.getMessage())
              .withRetry(1_000));
    }
    return switch (memory.open(staging, layouts.layouts(), board, board::close)) {
      case Decoded.Bad<StagedBuffers>(Refusal refusal) -> {
        board.close();
        yield new Decoded.Bad<>(refusal);
      }
      case Decoded.Good<StagedBuffers>(StagedBuffers good) -> Decoded.good(new Staged(good, board));
    };
  }

  /**
   * Hands a registration to the loop; false if the queue is full. The consumers are called on the
   * loop thread, when the session can already be served.
   */
  boolean send(
      Prepared.Good good,
      CommandQueue queue,
      Consumer<Reply.Registered> registered,
      Consumer<Reply.Refused> refused) {
    Register register = good.register();
    return queue.offer(
        new Command.Register(
            register.instance(),
            register.namespace(),
            good.format(),
            register.shard(),
            register.shardCount(),
            Formats.role(register.role()),
            good.peer().pid(),
            good.peer().uid(),
            good.attachTo(),
            good.buffers(),
            reply -> {
              switch (reply) {
                case Reply.Registered answer -> {
                  open(good, answer, queue);
                  registered.accept(answer);
                }
                case Reply.Refused refusal -> refused.accept(refusal);
                case Reply other ->
                    throw new IllegalStateException(other + " is no answer to REGISTER");
              }
            }));
  }

  /** What REGISTERED says. */
  Registered answer(Reply.Registered registered, Prepared.Good good) {
    long superseded = registered.supersededSessionId();
    BoardMemory board = good.board();
    return new Registered(
        registered.sessionId(),
        registered.instanceId(),
        registered.namespaceId(),
        registered.epoch(),
        superseded == 0 ? null : superseded,
        good.memory().geometry(),
        board == null ? null : new Registered.Board(board.bytes()));
  }

  /** The descriptors of REGISTERED, in their order. */
  List<OwnedFd> toSend(Prepared.Good good) {
    List<OwnedFd> descriptors = new ArrayList<>(good.memory().toSend());
    if (good.board() != null) {
      descriptors.addAll(good.board().toSend());
    }
    return descriptors;
  }

  /** They were sent. */
  void sent(Prepared.Good good) {
    good.memory().sent();
    if (good.board() != null) {
      good.board().sent();
    }
  }

  /** Runs what takes its time on a GPU's behalf. */
  void beside(Runnable task) {
    StagedMemory memory = stagedMemory;
    if (memory == null) {
      task.run();
    } else {
      memory.execute(task);
    }
  }

  /** Says who opens staging rings; before anything is registered. */
  void offer(StagedMemory memory) {
    stagedMemory = memory;
  }

  /** Loop thread. */
  void closed(long sessionId) {
    shapes.remove(sessionId);
  }

  private void open(Prepared.Good good, Reply.Registered registered, CommandQueue queue) {
    if (good.board() != null && good.buffers() instanceof StagedBuffers staged) {
      long id = registered.sessionId();
      good.board().open(registered.epoch(), id);
      staged
          .ring()
          .onViolation(
              why -> {
                poller.violation(id, why);
                return queue.offer(
                    new Command.CloseSession(id, SessionEnd.PROTOCOL_VIOLATION, _ -> {}));
              });
    }
    SessionShape attached = shapes.get(good.attachTo());
    SessionShape shape = attached == null ? SessionShape.of(good.register()) : attached;
    ChannelSession session =
        new ChannelSession(
            registered.sessionId(),
            registered.epoch(),
            good.memory(),
            poller,
            limits,
            shape.groupIds(),
            shape.layerCounts());
    shapes.put(registered.sessionId(), shape);
    poller.open(session);
  }
}
