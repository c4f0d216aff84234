package io.orbitkv.manager.config;

import io.orbitkv.ffi.Posix;
import java.util.Map;

/** Where things are when nobody says. */
public final class DefaultPaths {
  private DefaultPaths() {}

  /** The socket: in the user's own run-time folder, or in one that only this user can enter. */
  public static String socket(Map<String, String> environment) {
    String runtime = environment.getOrDefault("XDG_RUNTIME_DIR", "");
    return runtime.isEmpty()
        ? "/tmp/orbitkv-" + Posix.userId() + "/orbitkv.sock"
        : runtime + "/orbitkv.sock";
  }

  /** The journal. */
  public static String journal(Map<String, String> environment) {
    if (Posix.userId() == 0) {
      return "/var/lib/orbitkv/journal";
    }
    String state = environment.getOrDefault("XDG_STATE_HOME", "");
    return state.isEmpty()
        ? System.getProperty("user.home", "/tmp") + "/.local/state/orbitkv/journal"
        : state + "/orbitkv/journal";
  }
}
