package io.orbitkv.core;

import io.orbitkv.core.Command.Register;
import io.orbitkv.core.LiveNamespace.FieldProblem;
import io.orbitkv.core.Reply.Refused;
import io.orbitkv.core.copy.EngineBuffers;
import io.orbitkv.state.HostEvent.InstanceRegistered;
import io.orbitkv.state.HostEvent.LayersBound;
import io.orbitkv.state.HostEvent.NamespaceBound;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RegistrationRefused;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.HostEvent.SessionOpened;
import io.orbitkv.state.HostState;
import io.orbitkv.state.identity.Checked;
import io.orbitkv.state.identity.FormatMismatch;
import io.orbitkv.state.identity.Namespace;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Registrations. One that has a predecessor (same instance, shard and role), or whose instance is
 * being cleaned up, waits in a bounded line until that has drained; then the whole decision is made
 * anew.
 */
final class RegisterDecisions {
  private static final int MAX_INSTANCE_CHARS = 128;
  private static final int MAX_FORMAT_BYTES = 16 << 10;

  private final Host host;
  private final SessionDecisions sessions;
  private final List<WaitingRegistration> waiting = new ArrayList<>();

  RegisterDecisions(Host host, SessionDecisions sessions) {
    this.host = host;
    this.sessions = sessions;
  }

  void register(Register command) {
    decide(command, null);
  }

  /** Makes the decisions of all that wait anew, in the order they came. */
  void retry() {
    for (WaitingRegistration waits : List.copyOf(waiting)) {
      decide(waits.command, waits);
    }
  }

  /** A session has drained: the first registration that waits for that takes its place. */
  void succeed(LiveSession drained) {
    for (WaitingRegistration waits : waiting) {
      if (isPredecessor(drained, waits.command)) {
        decide(waits.command, waits);
        return;
      }
    }
  }

  void expire(WaitingRegistration waits) {
    waiting.remove(waits);
    refuse(
        waits.command,
        new Refused(
            RefusalCode.PREDECESSOR_DRAINING,
            "what instance %s ran before has not drained".formatted(waits.command.instance())));
  }

  void refuseWaiting() {
    for (WaitingRegistration waits : List.copyOf(waiting)) {
      forget(waits);
      refuse(waits.command, new Refused(RefusalCode.DRAINING, "the daemon is stopping"));
    }
  }

  int waiting() {
    return waiting.size();
  }

  // ---- one decision
  // ------------------------------------------------------------------------------------------------

  private void decide(Register command, @Nullable WaitingRegistration waits) {
    Refused problem =
        host.draining
            ? new Refused(RefusalCode.DRAINING, "the daemon is stopping")
            : valueProblem(command);
    LiveInstance instance = host.instances.get(command.instance());
    if (problem == null && instance != null && instance.cleaning != null) {
      wait(command, waits);
      return;
    }
    LiveSession attachedTo = attachable(command);
    if (problem == null && command.attachTo() != 0 && attachedTo == null) {
      problem = attachProblem(command);
    }
    LiveNamespace namespace = problem == null ? namespace(command, attachedTo) : null;
    if (namespace != null) {
      problem = problemWith(command, namespace, instance);
    }
    if (problem != null || namespace == null) {
      forget(waits);
      refuse(command, Objects.requireNonNull(problem));
      return;
    }
    LiveSession predecessor = instance == null ? null : predecessor(command, instance);
    if (predecessor != null) {
      boolean drained = sessions.drainedWithAttached(predecessor);
      if (!drained && !wait(command, waits)) {
        return;
      }
      sessions.beginEnd(predecessor, SessionEnd.SUPERSEDED);
      if (!drained) {
        return;
      }
    }
    forget(waits);
    open(command, namespace, instance, attachedTo);
  }

  private static Refused attachProblem(Register command) {
    return badField(
        RefusalCode.ATTACH_MISMATCH,
        "attachTo",
        "%d is no open session of instance %s, shard %d"
            .formatted(command.attachTo(), command.instance(), command.shard()));
  }

  private @Nullable Refused valueProblem(Register command) {
    if (!isName(command.instance())) {
      return badField(
          RefusalCode.BAD_VALUE, "instance", "is not 1 to 128 visible ASCII characters");
    }
    if (command.shardCount() < 1 || command.shardCount() > HostState.MAX_SHARDS) {
      return badField(
          RefusalCode.BAD_VALUE,
          "shardCount",
          "is %d, not 1 to %d".formatted(command.shardCount(), HostState.MAX_SHARDS));
    }
    if (command.shard() < 0 || command.shard() >= command.shardCount()) {
      return badField(
          RefusalCode.BAD_VALUE,
          "shard",
          "is %d of %d".formatted(command.shard(), command.shardCount()));
    }
    if ((command.format() == null) != (command.attachTo() != 0)) {
      return badField(
          RefusalCode.BAD_VALUE, "format", "must be given unless attachTo is, and not with it");
    }
    if (command.buffers() != null && command.attachTo() != 0) {
      return badField(RefusalCode.BAD_VALUE, "buffers", "must not be given with attachTo");
    }
    Checked<Namespace> name = Namespace.of(command.namespace());
    return name.refusal()
        .map(field -> badField(RefusalCode.BAD_VALUE, "namespace", field.problem()))
        .orElse(null);
  }

  private static boolean isName(String text) {
    return !text.isEmpty()
        && text.length() <= MAX_INSTANCE_CHARS
        && text.chars().allMatch(c -> c > ' ' && c <= '~');
  }

  private @Nullable LiveSession attachable(Register command) {
    LiveSession base = host.sessions.get(command.attachTo());
    return base != null
            && base.open()
            && base.attachedTo == null
            && base.shard == command.shard()
            && base.role != command.role()
            && base.instance.name.equals(command.instance())
            && base.namespace().name.text().equals(command.namespace())
            && base.namespace().shardCount == command.shardCount()
        ? base
        : null;
  }

  private static @Nullable LiveSession predecessor(Register command, LiveInstance instance) {
    for (LiveSession session : instance.sessions) {
      if (isPredecessor(session, command)) {
        return session;
      }
    }
    return null;
  }

  private static boolean isPredecessor(LiveSession session, Register command) {
    return session.shard == command.shard()
        && session.role == command.role()
        && session.instance.name.equals(command.instance());
  }

  /**
   * Puts a registration in line unless it stands there; false when the line is full and it was
   * refused.
   */
  private boolean wait(Register command, @Nullable WaitingRegistration waits) {
    if (waits != null) {
      return true;
    }
    if (waiting.size() >= host.config.maxWaitingRegistrations()) {
      refuse(
          command,
          new Refused(
              RefusalCode.PREDECESSOR_DRAINING,
              waiting.size() + " registrations wait for their predecessors already"));
      return false;
    }
    WaitingRegistration line = new WaitingRegistration(command);
    waiting.add(line);
    host.timers.arm(line, host.deadline(host.config.registerWaitMillis()));
    return true;
  }

  private void forget(@Nullable WaitingRegistration waits) {
    if (waits != null) {
      waiting.remove(waits);
      host.timers.cancel(waits);
    }
  }

  private LiveNamespace namespace(Register command, @Nullable LiveSession attachedTo) {
    if (attachedTo != null) {
      return attachedTo.namespace();
    }
    LiveNamespace bound = host.namespaces.get(command.namespace());
    return bound != null
        ? bound
        : new LiveNamespace(
            host.state.nextNamespaceId(),
            new Namespace(command.namespace()),
            Objects.requireNonNull(command.format()),
            command.shardCount(),
            host.granuleBytes());
  }

  private @Nullable Refused problemWith(
      Register command, LiveNamespace namespace, @Nullable LiveInstance instance) {
    if (command.format() != null) {
      Optional<FormatMismatch> mismatch = namespace.format.firstDifference(command.format());
      if (mismatch.isPresent()) {
        return badField(
            RefusalCode.FORMAT_MISMATCH,
            mismatch.get().field(),
            "is %s, bound is %s".formatted(mismatch.get().theirs(), mismatch.get().ours()));
      }
    }
    if (namespace.shardCount != command.shardCount()) {
      return badField(
          RefusalCode.FORMAT_MISMATCH,
          "shardCount",
          "is %d, bound is %d".formatted(command.shardCount(), namespace.shardCount));
    }
    if (instance != null && instance.namespace != namespace) {
      return badField(
          RefusalCode.BAD_VALUE,
          "namespace",
          "is %s, instance %s uses %s"
              .formatted(command.namespace(), instance.name, instance.namespace.name));
    }
    EngineBuffers buffers = command.buffers();
    if (buffers != null) {
      FieldProblem field =
          namespace.layerProblem(command.shard(), buffers, host.config.poolBytes());
      if (field != null) {
        return badField(
            field.bound() ? RefusalCode.FORMAT_MISMATCH : RefusalCode.BAD_VALUE,
            field.field(),
            field.message());
      }
    }
    return limitProblem(command, instance);
  }

  private @Nullable Refused limitProblem(Register command, @Nullable LiveInstance instance) {
    boolean replaces = instance != null && predecessor(command, instance) != null;
    if (!replaces && host.sessions.size() >= host.config.maxSessions()) {
      return new Refused(
          RefusalCode.TOO_MANY_SESSIONS, host.sessions.size() + " sessions are open");
    }
    if (instance == null && host.instances.size() >= host.config.maxInstances()) {
      return new Refused(
          RefusalCode.TOO_MANY_SESSIONS, host.instances.size() + " instances are registered");
    }
    return host.hasRoom(8, MAX_FORMAT_BYTES)
        ? null
        : new Refused(RefusalCode.JOURNAL_FULL, "the journal has no room for a registration");
  }

  private void open(
      Register command,
      LiveNamespace namespace,
      @Nullable LiveInstance known,
      @Nullable LiveSession attachedTo) {
    HostState state = host.state;
    if (state.namespace(namespace.id) == null) {
      host.emit(
          new NamespaceBound(
              namespace.id, command.namespace(), namespace.format, namespace.shardCount));
      host.namespaces.put(command.namespace(), namespace);
    }
    LiveInstance instance = known;
    if (instance == null) {
      long instanceId = state.nextInstanceId();
      host.emit(new InstanceRegistered(instanceId, command.instance(), namespace.id));
      Budget budget = new Budget(host.config.instanceBudgetBytes());
      instance = new LiveInstance(instanceId, command.instance(), namespace, budget);
      host.instances.put(command.instance(), instance);
      host.orphans.remove(namespace);
    }
    LiveSession predecessor = predecessor(command, instance);
    long superseded = predecessor == null ? 0 : predecessor.id;
    long id = state.nextSessionId();
    host.emit(
        new SessionOpened(
            id,
            instance.id,
            command.shard(),
            command.role(),
            command.pid(),
            command.uid(),
            superseded));
    SharedBuffers buffers = buffers(command, namespace, attachedTo);
    LiveSession session =
        new LiveSession(
            id,
            instance,
            command.shard(),
            command.role(),
            command.pid(),
            command.uid(),
            buffers,
            attachedTo);
    instance.sessions.add(session);
    host.sessions.put(id, session);
    if (predecessor != null) {
      sessions.close(predecessor);
    }
    host.reply(
        command.replyTo(),
        new Reply.Registered(id, instance.id, namespace.id, state.epoch(), superseded));
  }

  private @Nullable SharedBuffers buffers(
      Register command, LiveNamespace namespace, @Nullable LiveSession attachedTo) {
    SharedBuffers shared = attachedTo == null ? null : attachedTo.buffers;
    EngineBuffers own = command.buffers();
    if (own != null && shared == null) {
      List<LayersBound> bound = namespace.bindLayers(command.shard(), own);
      if (host.outlivesDaemon()) {
        bound.forEach(host::emit);
      }
      shared = new SharedBuffers(own);
    }
    if (shared != null) {
      shared.addUser();
    }
    return shared;
  }

  // ---- refusals
  // ----------------------------------------------------------------------------------------------------

  private static Refused badField(RefusalCode code, String field, String message) {
    return new Refused(code, field + " " + message, field, 0);
  }

  private void refuse(Register command, Refused refusal) {
    EngineBuffers buffers = command.buffers();
    if (buffers != null) {
      buffers.close();
    }
    String field = refusal.field();
    if (refusal.category() == RefusalCategory.USER && host.hasRoom(1, MAX_FORMAT_BYTES)) {
      host.emit(
          new RegistrationRefused(
              printable(command.instance()),
              printable(command.namespace()),
              field == null ? "" : field,
              refusal.message()));
    }
    host.reply(command.replyTo(), refusal);
  }

  private static String printable(String text) {
    StringBuilder kept = new StringBuilder();
    for (int i = 0; i < text.length() && i < 200; i++) {
      char c = text.charAt(i);
      kept.append(c > ' ' && c <= '~' ? c : '?');
    }
    return kept.toString();
  }
}
