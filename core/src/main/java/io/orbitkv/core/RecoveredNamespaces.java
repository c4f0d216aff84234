package io.orbitkv.core;

import io.orbitkv.state.BoundLayers;
import io.orbitkv.state.BoundNamespace;
import io.orbitkv.state.identity.Namespace;

/** Namespaces whose blocks outlived the daemon; each waits for an instance. */
final class RecoveredNamespaces {
  private RecoveredNamespaces() {}

  /** Takes them into what this epoch knows. */
  static void bind(Host host) {
    host.state.namespaces().forEach(bound -> bind(host, bound));
  }

  private static void bind(Host host, BoundNamespace bound) {
    LiveNamespace namespace =
        new LiveNamespace(
            bound.id(),
            new Namespace(bound.name()),
            bound.format(),
            bound.shardCount(),
            host.granuleBytes());
    for (int group = 0; group < namespace.contract.groups().size(); group++) {
      int groupId = namespace.group(group).groupId();
      for (int slice = 0; slice < bound.shardCount(); slice++) {
        BoundLayers layers = host.state.layers(bound.id(), groupId, slice);
        if (layers != null) {
          namespace.bindLayers(group, layers);
        }
      }
    }
    host.namespaces.put(bound.name(), namespace);
    host.orphans.add(namespace);
  }
}
