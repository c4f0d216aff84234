package io.orbitkv.state;

import io.orbitkv.state.HostEvent.InstanceCleaned;
import io.orbitkv.state.HostEvent.InstanceRegistered;
import io.orbitkv.state.HostEvent.NamespaceBound;
import io.orbitkv.state.HostEvent.NamespaceUnbound;
import io.orbitkv.state.HostEvent.SessionClosed;
import io.orbitkv.state.HostEvent.SessionOpened;
import io.orbitkv.state.Totals.Counter;
import io.orbitkv.state.identity.GroupSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Who is there: namespaces, instances, sessions, and the facts that change them. */
final class Registry {
  final LongMap<BoundNamespace> namespaces = new LongMap<>();
  final LongMap<KnownInstance> instances = new LongMap<>();
  final LongMap<OpenSession> sessions = new LongMap<>();

  private final LongMap<GroupRow> groups = new LongMap<>();
  private final BlockTable blocks;
  private final Totals totals;

  // Looked up by name only, never iterated.
  private final Map<String, BoundNamespace> namespacesByName = new HashMap<>();
  private final Map<String, KnownInstance> instancesByName = new HashMap<>();

  int nextNamespaceId = 1;
  long nextInstanceId = 1;
  long nextSessionId = 1;
  private long digest;

  Registry(BlockTable blocks, Totals totals) {
    this.blocks = blocks;
    this.totals = totals;
  }

  @Nullable BoundNamespace namespace(String name) {
    return namespacesByName.get(name);
  }

  @Nullable KnownInstance instance(String name) {
    return instancesByName.get(name);
  }

  @Nullable GroupRow group(int namespaceId, int groupId) {
    return groups.get(groupKey(namespaceId, groupId));
  }

  long digest() {
    return digest;
  }

  void bind(long position, NamespaceBound event) {
    HostInvariants.newId(position, "namespace", event.namespaceId(), nextNamespaceId);
    HostInvariants.require(
        event.shardCount() >= 1 && event.shardCount() <= HostState.MAX_SHARDS,
        position,
        "namespace %s has %d shards; a host holds 1 to %d",
        event.namespace(),
        event.shardCount(),
        HostState.MAX_SHARDS);
    HostInvariants.require(
        namespace(event.namespace()) == null,
        position,
        "namespace %s is bound already; it must be unbound first",
        event.namespace());
    nextNamespaceId = event.namespaceId() + 1;
    add(event, position);
  }

  /** Also used by the checkpoint reader, which has checked its input. */
  void add(NamespaceBound event, long position) {
    List<GroupRow> rows = new ArrayList<>();
    for (GroupSpec spec : event.format().groups()) {
      GroupRow row =
          new GroupRow(
              blocks.freeRow(),
              event.namespaceId(),
              spec.groupId(),
              spec.replicated(),
              event.shardCount());
      blocks.addGroup(row);
      groups.put(groupKey(event.namespaceId(), spec.groupId()), row);
      rows.add(row);
    }
    BoundNamespace namespace =
        new BoundNamespace(
            event.namespaceId(),
            event.namespace(),
            event.format(),
            event.shardCount(),
            position,
            List.copyOf(rows));
    namespaces.put(event.namespaceId(), namespace);
    namespacesByName.put(event.namespace(), namespace);
    digest += namespace.digestPart();
  }

  BoundNamespace unbind(long position, NamespaceUnbound event) {
    BoundNamespace namespace = HostInvariants.namespace(position, this, event.namespaceId());
    HostInvariants.require(
        namespace.instances == 0,
        position,
        "%s is unbound while it has %d instances; InstanceCleaned comes first",
        namespace,
        namespace.instances);
    HostInvariants.require(
        namespace.blocks() == 0,
        position,
        "%s is unbound while it has %d blocks; BlocksEvicted comes first",
        namespace,
        namespace.blocks());
    for (GroupRow row : namespace.groups) {
      groups.remove(groupKey(row.namespaceId, row.groupId));
      blocks.removeGroup(row);
    }
    namespaces.remove(namespace.id());
    namespacesByName.remove(namespace.name());
    digest -= namespace.digestPart();
    return namespace;
  }

  void register(Fact fact, InstanceRegistered event) {
    long position = fact.position();
    HostInvariants.newId(position, "instance", event.instanceId(), nextInstanceId);
    HostInvariants.namespace(position, this, event.namespaceId());
    HostInvariants.require(
        instance(event.instance()) == null,
        position,
        "instance %s is registered already; it must be cleaned first",
        event.instance());
    nextInstanceId = event.instanceId() + 1;
    add(
        position,
        new KnownInstance(
            event.instanceId(), event.instance(), event.namespaceId(), position, fact.atMicros()));
    totals.add(Counter.INSTANCES_REGISTERED, 1);
  }

  void add(long position, KnownInstance instance) {
    HostInvariants.namespace(position, this, instance.namespaceId()).instances++;
    instances.put(instance.id(), instance);
    instancesByName.put(instance.name(), instance);
    digest += instance.digestPart();
  }

  void clean(long position, InstanceCleaned event) {
    KnownInstance instance = HostInvariants.instance(position, this, event.instanceId());
    HostInvariants.require(
        instance.openSessions == 0,
        position,
        "%s is cleaned while it has %d open sessions; SessionClosed comes first",
        instance,
        instance.openSessions);
    HostInvariants.namespace(position, this, instance.namespaceId()).instances--;
    instances.remove(instance.id());
    instancesByName.remove(instance.name());
    digest -= instance.digestPart();
  }

  void open(Fact fact, SessionOpened event) {
    long position = fact.position();
    HostInvariants.newId(position, "session", event.sessionId(), nextSessionId);
    KnownInstance instance = HostInvariants.instance(position, this, event.instanceId());
    BoundNamespace namespace = HostInvariants.namespace(position, this, instance.namespaceId());
    HostInvariants.require(
        event.shard() >= 0 && event.shard() < namespace.shardCount(),
        position,
        "session %d is of shard %d; %s has shards 0 to %d",
        event.sessionId(),
        event.shard(),
        namespace,
        namespace.shardCount() - 1);
    nextSessionId = event.sessionId() + 1;
    supersede(position, event);
    add(
        new OpenSession(
            event.sessionId(),
            instance,
            event.shard(),
            event.role(),
            event.pid(),
            event.uid(),
            position,
            fact.atMicros()));
    totals.add(Counter.SESSIONS_OPENED, 1);
  }

  private void supersede(long position, SessionOpened event) {
    HostInvariants.require(
        event.supersedes() >= 0 && event.supersedes() < event.sessionId(),
        position,
        "session %d supersedes %d, which never was",
        event.sessionId(),
        event.supersedes());
    OpenSession old = event.supersedes() == 0 ? null : sessions.get(event.supersedes());
    if (old == null) {
      return;
    }
    HostInvariants.require(
        old.instance().id() == event.instanceId()
            && old.shard() == event.shard()
            && old.role() == event.role(),
        position,
        "session %d supersedes %s, which has another instance, shard or role",
        event.sessionId(),
        old);
    HostInvariants.live(position, this, old.id());
    digest -= old.digestPart();
    old.supersededBy = event.sessionId();
    digest += old.digestPart();
  }

  void add(OpenSession session) {
    session.instance().openSessions++;
    sessions.put(session.id(), session);
    digest += session.digestPart();
  }

  void close(long position, SessionClosed event) {
    OpenSession session = HostInvariants.session(position, this, event.sessionId());
    HostInvariants.require(
        session.publishes == 0 && session.restores == 0,
        position,
        "%s is closed while %d publishes and %d restores run; PublishAborted and RestoreFinished"
            + " come first",
        session,
        session.publishes,
        session.restores);
    HostInvariants.require(
        session.tickets == 0 && session.leases == 0,
        position,
        "%s is closed while it has %d tickets and %d leases; TicketClosed and LeaseReleased come"
            + " first",
        session,
        session.tickets,
        session.leases);
    sessions.remove(session.id());
    session.instance().openSessions--;
    digest -= session.digestPart();
    totals.sessionsClosed.add(event.reason(), 1);
  }

  long digestFromScratch() {
    long sum = 0;
    for (BoundNamespace namespace : namespaces.inOrder()) {
      sum += namespace.digestPart();
    }
    for (KnownInstance instance : instances.inOrder()) {
      sum += instance.digestPart();
    }
    for (OpenSession session : sessions.inOrder()) {
      sum += session.digestPart();
    }
    return sum;
  }

  private static long groupKey(int namespaceId, int groupId) {
    return ((long) namespaceId << 32) | groupId;
  }
}
