package io.orbitkv.manager.replay;

import io.orbitkv.state.BoundNamespace;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent.InstanceRegistered;
import io.orbitkv.state.HostEvent.NamespaceBound;
import io.orbitkv.state.HostEvent.SessionOpened;
import io.orbitkv.state.HostState;
import io.orbitkv.state.KnownInstance;
import io.orbitkv.state.OpenSession;
import io.orbitkv.state.identity.GroupSpec;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What ids stood for. The state forgets a session when it closes; a person who reads of it later
 * still wants to know whose it was.
 */
public final class Names {
  private final Map<Integer, NamespaceBound> namespaces = new HashMap<>();
  private final Map<Long, InstanceRegistered> instances = new HashMap<>();
  private final Map<Long, SessionOpened> sessions = new HashMap<>();

  /** Takes what a checkpoint knows. */
  void seed(HostState state) {
    for (BoundNamespace each : state.namespaces()) {
      namespaces.put(
          each.id(), new NamespaceBound(each.id(), each.name(), each.format(), each.shardCount()));
    }
    for (KnownInstance each : state.instances()) {
      instances.put(each.id(), new InstanceRegistered(each.id(), each.name(), each.namespaceId()));
    }
    for (OpenSession each : state.sessions()) {
      sessions.put(
          each.id(),
          new SessionOpened(
              each.id(),
              each.instance().id(),
              each.shard(),
              each.role(),
              each.pid(),
              each.uid(),
              0));
    }
  }

  void observe(Fact fact) {
    if (fact.event() instanceof NamespaceBound bound) {
      namespaces.put(bound.namespaceId(), bound);
    } else if (fact.event() instanceof InstanceRegistered registered) {
      instances.put(registered.instanceId(), registered);
    } else if (fact.event() instanceof SessionOpened opened) {
      sessions.put(opened.sessionId(), opened);
    }
  }

  public @Nullable NamespaceBound namespace(int namespaceId) {
    return namespaces.get(namespaceId);
  }

  /** The namespace's name, or its number where the journal no longer tells it. */
  public String namespaceName(int namespaceId) {
    NamespaceBound bound = namespaces.get(namespaceId);
    return bound == null ? "#" + namespaceId : bound.namespace();
  }

  public String instanceName(long instanceId) {
    InstanceRegistered registered = instances.get(instanceId);
    return registered == null ? "#" + instanceId : registered.instance();
  }

  public @Nullable SessionOpened session(long sessionId) {
    return sessions.get(sessionId);
  }

  /** The instance of a session, 0 when unknown. */
  public long instanceOf(long sessionId) {
    SessionOpened opened = sessions.get(sessionId);
    return opened == null ? 0 : opened.instanceId();
  }

  /** The namespace of a session, 0 when unknown. */
  public int namespaceOf(long sessionId) {
    InstanceRegistered registered = instances.get(instanceOf(sessionId));
    return registered == null ? 0 : registered.namespaceId();
  }

  /** {@code vllm-0 session 3}. */
  public String who(long sessionId) {
    if (sessionId == 0) {
      return "nobody";
    }
    long instance = instanceOf(sessionId);
    return (instance == 0 ? "" : instanceName(instance) + " ") + "session " + sessionId;
  }

  /** {@code group 0 (attention_kv)}. */
  public String group(int namespaceId, int groupId) {
    GroupSpec spec = spec(namespaceId, groupId);
    return spec == null
        ? "group " + groupId
        : "group " + groupId + " (" + Words.of(spec.component()) + ")";
  }

  public @Nullable GroupSpec spec(int namespaceId, int groupId) {
    NamespaceBound bound = namespaces.get(namespaceId);
    if (bound != null) {
      for (GroupSpec spec : bound.format().groups()) {
        if (spec.groupId() == groupId) {
          return spec;
        }
      }
    }
    return null;
  }

  /** Slices that seal a block; 1 when the journal no longer tells. */
  int slices(int namespaceId, int groupId) {
    NamespaceBound bound = namespaces.get(namespaceId);
    GroupSpec spec = spec(namespaceId, groupId);
    return bound == null || (spec != null && spec.replicated()) ? 1 : bound.shardCount();
  }
}
