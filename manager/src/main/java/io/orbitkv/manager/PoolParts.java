package io.orbitkv.manager;

import io.orbitkv.core.checksum.Checksum;
import io.orbitkv.core.pool.PinnedPool;
import io.orbitkv.core.pool.PoolFile;
import io.orbitkv.core.pool.PoolFileOpener;
import io.orbitkv.core.pool.PoolId;
import io.orbitkv.core.pool.PoolOpening;
import io.orbitkv.core.pool.PoolRefusal;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.config.DaemonConfig;
import io.orbitkv.manager.config.Quantity;
import io.orbitkv.state.HostState;
import java.nio.file.Path;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The pool of a daemon: memory of its own, or a file that outlives it. */
final class PoolParts {
  private static final Logger LOG = LoggerFactory.getLogger(PoolParts.class);

  private PoolParts() {}

  /**
   * Maps it and says in the log what it is.
   *
   * @param state what the journal's fold gave
   */
  static PinnedPool map(DaemonConfig config, HostState state) throws StartFailure {
    PinnedPool pool =
        config.poolPersist().isPresent()
            ? kept(config, config.poolPersist().get(), state)
            : ownMemory(config, state);
    LOG.info("copies: streamed by {}", Checksum.streaming());
    for (String line : pool.description().split("\n", -1)) {
      LOG.info("pool: {}", line);
    }
    return pool;
  }

  private static PinnedPool ownMemory(DaemonConfig config, HostState state) throws StartFailure {
    long bytes = config.host().poolBytes();
    if (idOf(state).keeps()) {
      LOG.warn(
          "pool: the journal's blocks lie in a pool that is kept, {}, and --pool-persist is not"
              + " given: they are dropped, and the file keeps its memory until it is deleted",
          idOf(state));
    }
    try {
      return PinnedPool.map(bytes, config.poolOptions(), state.nextExtentGeneration());
    } catch (NativeException refused) {
      throw new StartFailure(
          "no pool of %s: %s".formatted(Quantity.bytesText(bytes), refused.getMessage()),
          "choose a smaller --pool-size, or free memory",
          refused);
    }
  }

  private static PinnedPool kept(DaemonConfig config, Path path, HostState state)
      throws StartFailure {
    PoolFileOpener opener =
        new PoolFileOpener(
            path,
            config.host().poolBytes(),
            state.epoch(),
            config.poolOptions(),
            UUID.randomUUID());
    return switch (opener.open()) {
      case PoolOpening.Refused(PoolRefusal refusal) ->
          throw new StartFailure("--pool-persist: " + refusal.message(), refusal.remedy());
      case PoolOpening.Opened(PoolFile file) -> {
        log(file, state);
        yield PinnedPool.in(file, state.nextExtentGeneration());
      }
    };
  }

  private static void log(PoolFile file, HostState state) {
    PoolId id = PoolId.of(file.id());
    if (!file.freshBecause().isEmpty()) {
      LOG.info(
          "pool: kept in {} as {}, which begins empty: {}", file.path(), id, file.freshBecause());
    } else if (!id.equals(idOf(state))) {
      LOG.warn(
          "pool: kept in {} as {}; the journal's blocks lay in {}: they are dropped",
          file.path(),
          id,
          idOf(state));
    } else {
      LOG.info(
          "pool: kept in {} as {}, as the journal says; its blocks are verified beside the service",
          file.path(),
          id);
    }
  }

  private static PoolId idOf(HostState state) {
    return new PoolId(state.poolIdHigh(), state.poolIdLow());
  }
}
