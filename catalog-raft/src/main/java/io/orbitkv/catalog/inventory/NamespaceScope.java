package io.orbitkv.catalog.inventory;

import io.orbitkv.state.identity.Namespace;
import java.util.Optional;
import java.util.Set;

/**
 * The namespaces whose blocks an owner tells others about. Rows do not carry a namespace, so the
 * filter is where the rows are made; another scope is another run of the owner.
 *
 * @param only the namespaces, or empty for all
 */
public record NamespaceScope(Optional<Set<Namespace>> only) {
  /** Every namespace. */
  public static final NamespaceScope ALL = new NamespaceScope(Optional.empty());

  /** Only these. */
  public static NamespaceScope only(Set<Namespace> namespaces) {
    return new NamespaceScope(Optional.of(Set.copyOf(namespaces)));
  }

  /** Whether blocks of this namespace are told. */
  public boolean covers(Namespace namespace) {
    return only.isEmpty() || only.get().contains(namespace);
  }
}
