package io.orbitkv.manager.replay;

import io.orbitkv.manager.NearNames;
import io.orbitkv.manager.replay.Links.Scope;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which facts to show.
 *
 * @param instance name or id of an instance; null for all
 * @param request a request's name
 * @param blockId a block
 * @param leaseId a lease
 * @param types names of facts, as {@link #knownTypes} gives them; empty for all
 * @param since from here on
 * @param until up to and with here
 */
public record FactFilter(
    @Nullable String instance,
    @Nullable String request,
    @Nullable Long blockId,
    @Nullable Long leaseId,
    Set<String> types,
    @Nullable Moment since,
    @Nullable Moment until) {

  private static final Map<String, String> TYPES = collect(HostEvent.class, new HashMap<>());

  /** The names of all facts, in order. */
  public static List<String> knownTypes() {
    return List.copyOf(new TreeSet<>(TYPES.values()));
  }

  private static Map<String, String> collect(Class<?> sealed, Map<String, String> names) {
    Class<?>[] permitted = sealed.getPermittedSubclasses();
    if (permitted == null) {
      names.put(sealed.getSimpleName().toLowerCase(Locale.ROOT), sealed.getSimpleName());
    } else {
      for (Class<?> each : permitted) {
        collect(each, names);
      }
    }
    return names;
  }

  /**
   * The fact that a person means by a name in any case.
   *
   * @throws IllegalArgumentException with the names there are
   */
  public static String type(String name) {
    String type = TYPES.get(name.strip().toLowerCase(Locale.ROOT));
    if (type == null) {
      List<String> near = new ArrayList<>(NearNames.of(name, TYPES.values(), 3));
      throw new IllegalArgumentException(
          near.isEmpty()
              ? "no fact is called %s; there are %s"
                  .formatted(name, String.join(", ", knownTypes()))
              : "no fact is called %s; did you mean %s?".formatted(name, String.join(", ", near)));
    }
    return type;
  }

  /** Whether nothing after this fact can pass. */
  boolean isPast(Fact fact) {
    return until != null && !until.covers(fact);
  }

  boolean passes(Fact fact, Links links, Names names) {
    if (since != null && !since.reachedBy(fact)) {
      return false;
    }
    if (!types.isEmpty() && !types.contains(fact.event().getClass().getSimpleName())) {
      return false;
    }
    if (instance == null && request == null && blockId == null && leaseId == null) {
      return true;
    }
    Scope scope = links.scope(fact, names);
    return (instance == null || isOf(instance, fact, scope, names))
        && (request == null || request.equals(scope.request()))
        && (blockId == null || scope.concernsBlock(blockId))
        && (leaseId == null || leaseId == scope.leaseId());
  }

  private static boolean isOf(String instance, Fact fact, Scope scope, Names names) {
    if (fact.event() instanceof HostEvent.RegistrationRefused refused) {
      return refused.instance().equals(instance);
    }
    return scope.instanceId() != 0
        && (names.instanceName(scope.instanceId()).equals(instance)
            || Long.toString(scope.instanceId()).equals(instance));
  }
}
