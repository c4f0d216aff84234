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
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.OwnedFd;
import io.orbitkv.ffi.PeerCredentials;
import io.orbitkv.state.identity.StateFormat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
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
     */
    record Good(
        Register register,
        PeerCredentials peer,
        @Nullable StateFormat format,
        @Nullable EngineBuffers buffers,
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
    List<Register.Buffer> buffers = register.buffers();
    int due = buffers == null ? 0 : buffers.size();
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
    if (buffers != null && layers != null && !layers.isEmpty()) {
      switch (EngineMemory.map(buffers, layers, descriptors, later)) {
        case Decoded.Bad<EngineBuffers>(Refusal refusal) -> {
          return new Prepared.Bad(refusal);
        }
        case Decoded.Good<EngineBuffers>(EngineBuffers good) -> mapped = good;
      }
    }
    try {
      return new Prepared.Good(
          register, peer, format, mapped, ChannelMemory.create(GEOMETRY, guard));
    } catch (NativeException scarce) {
      if (mapped != null) {
        mapped.close();
      }
      return new Prepared.Bad(
          Refusal.of(RefusalCode.TOO_MANY_SESSIONS, "no channel: " + scarce.getMessage())
              .withRetry(1_000));
    }
  }

  /**
   * Hands a registration to the loop; false if the queue is full. The consumers are called on the
   * loop thread, when the session can already be served.
   */
  boolean send(
      Prepared.Good good,
      CommandQueue queue,
      BiConsumer<Reply.Registered, ChannelSession> registered,
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
                case Reply.Registered answer -> registered.accept(answer, open(good, answer));
                case Reply.Refused refusal -> refused.accept(refusal);
                case Reply other ->
                    throw new IllegalStateException(other + " is no answer to REGISTER");
              }
            }));
  }

  /** What REGISTERED says. */
  Registered answer(Reply.Registered registered, Prepared.Good good) {
    long superseded = registered.supersededSessionId();
    return new Registered(
        registered.sessionId(),
        registered.instanceId(),
        registered.namespaceId(),
        registered.epoch(),
        superseded == 0 ? null : superseded,
        good.memory().geometry());
  }

  /** Loop thread. */
  void closed(long sessionId) {
    shapes.remove(sessionId);
  }

  private ChannelSession open(Prepared.Good good, Reply.Registered registered) {
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
    return session;
  }
}
