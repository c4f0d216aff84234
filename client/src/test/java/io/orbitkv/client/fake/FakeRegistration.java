package io.orbitkv.client.fake;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.Register.Format;
import io.orbitkv.client.control.Register.Group;
import io.orbitkv.client.control.Register.Layer;
import io.orbitkv.client.control.RegisterCheck;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.ffi.OwnedFd;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Decides registrations of the fake Manager. */
final class FakeRegistration {
  private FakeRegistration() {}

  /** Why a registration is refused, null if it is not; maps its buffers. */
  static @Nullable Refusal problem(
      FakeManager manager, Register register, List<OwnedFd> fds, List<FakeBuffers> mapped) {
    Refusal refusal = RegisterCheck.problem(register);
    if (refusal != null) {
      return refusal;
    }
    if (register.attachTo() != null) {
      FakeSession parent = session(manager, register.attachTo());
      boolean fits =
          parent != null
              && parent.register.instance().equals(register.instance())
              && parent.register.namespace().equals(register.namespace())
              && parent.register.shard() == register.shard();
      return fits ? null : Refusal.of(RefusalCode.ATTACH_MISMATCH, "no such session");
    }
    FakeCache.Namespace bound = manager.cache.namespaces.get(register.namespace());
    if (bound != null) {
      String field = difference(bound, register);
      if (field != null) {
        return Refusal.ofField(RefusalCode.FORMAT_MISMATCH, field, field + " differs");
      }
    }
    return FakeBuffers.map(register, fds, mapped);
  }

  /** The namespace, bound by this registration if it is the first. */
  static FakeCache.Namespace bind(FakeManager manager, Register register) {
    FakeCache.Namespace namespace =
        manager.cache.namespaces.computeIfAbsent(
            register.namespace(), _ -> new FakeCache.Namespace((int) manager.nextId(), register));
    if (register.role() != Register.Role.QUERY) {
      namespace.layerBytesByShard.putIfAbsent(register.shard(), shape(register));
    }
    return namespace;
  }

  /** Whether the second takes the first one's place. */
  static boolean sameSeat(Register a, Register b) {
    return a.instance().equals(b.instance()) && a.shard() == b.shard() && a.role() == b.role();
  }

  static @Nullable FakeSession session(FakeManager manager, @Nullable Long sessionId) {
    for (FakeConnection connection : manager.connections) {
      FakeSession session = connection.session();
      if (sessionId != null && session != null && session.sessionId == sessionId) {
        return session;
      }
    }
    return null;
  }

  private static @Nullable String difference(FakeCache.Namespace bound, Register register) {
    Format ours = Objects.requireNonNull(bound.bound.format());
    Format theirs = Objects.requireNonNull(register.format());
    if (!ours.modelDigest().equals(theirs.modelDigest())) {
      return "modelDigest";
    }
    if (!ours.implementationDigest().equals(theirs.implementationDigest())) {
      return "implementationDigest";
    }
    if (!ours.dtype().equals(theirs.dtype())) {
      return "dtype";
    }
    if (!ours.layout().equals(theirs.layout())) {
      return "layout";
    }
    List<Group> a = bound.groups();
    List<Group> b = FakeBuffers.list(register.groups());
    if (a.size() != b.size()) {
      return "groups.size";
    }
    for (int i = 0; i < a.size(); i++) {
      if (a.get(i).pageTokens() != b.get(i).pageTokens()) {
        return "groups[" + i + "].pageTokens";
      }
      if (a.get(i).bytesPerBlock() != b.get(i).bytesPerBlock()) {
        return "groups[" + i + "].bytesPerBlock";
      }
      if (!a.get(i).equals(b.get(i))) {
        return "groups[" + i + "].rule";
      }
    }
    if (bound.bound.shardCount() != register.shardCount()) {
      return "shardCount";
    }
    List<Long> shape = bound.layerBytesByShard.get(register.shard());
    boolean query = register.role() == Register.Role.QUERY;
    return query || shape == null || shape.equals(shape(register)) ? null : "layers";
  }

  private static List<Long> shape(Register register) {
    return FakeBuffers.list(register.layers()).stream()
        .sorted(Comparator.comparingInt(Layer::groupId).thenComparingInt(Layer::layer))
        .map(Layer::sliceBytes)
        .toList();
  }
}
