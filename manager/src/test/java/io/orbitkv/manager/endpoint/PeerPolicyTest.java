package io.orbitkv.manager.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.client.control.HelloOk;
import io.orbitkv.ffi.PeerCredentials;
import io.orbitkv.ffi.Posix;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PeerPolicyTest {
  private static final int OTHER = 54_321;

  @Test
  void shouldServeItsOwnUserAndRoot() {
    PeerPolicy policy = policy(0600, Set.of(), Set.of());
    assertEquals(true, policy.allows(new PeerCredentials(1, Posix.userId(), OTHER)));
    assertEquals(true, policy.allows(new PeerCredentials(1, 0, OTHER)));
    assertEquals(false, policy.allows(new PeerCredentials(1, OTHER, Posix.groupId())));
  }

  @Test
  void shouldServeItsGroupWhenTheSocketIsOpenToIt() {
    PeerPolicy policy = policy(0660, Set.of(), Set.of());
    assertEquals(true, policy.allows(new PeerCredentials(1, OTHER, Posix.groupId())));
    assertEquals(false, policy.allows(new PeerCredentials(1, OTHER, OTHER)));
  }

  @Test
  void shouldServeWhoIsNamed() {
    PeerPolicy policy = policy(0660, Set.of(OTHER), Set.of(OTHER + 1));
    assertEquals(true, policy.allows(new PeerCredentials(1, OTHER, OTHER)));
    assertEquals(true, policy.allows(new PeerCredentials(1, OTHER + 2, OTHER + 1)));
    assertEquals(false, policy.allows(new PeerCredentials(1, OTHER + 2, OTHER + 2)));
  }

  private static PeerPolicy policy(int mode, Set<Integer> uids, Set<Integer> gids) {
    return new PeerPolicy(
        new EndpointOptions("/tmp/s", mode, uids, gids, 16, HelloOk.Limits.STANDARD, "orbitkv/1"));
  }
}
