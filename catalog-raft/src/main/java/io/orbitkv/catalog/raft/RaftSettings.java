package io.orbitkv.catalog.raft;

import java.util.List;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/**
 * What Ratis is told. Its defaults suit one group with a large log; here are 16 with small ones, in
 * a daemon that has other things to do: entries are below a KiB, and a shard changes a few times a
 * day. Decision 22 has the reasons and what they were measured to save.
 */
final class RaftSettings {
  /** The largest entry: some hundred commands. */
  private static final SizeInBytes ENTRY_BYTES = SizeInBytes.valueOf("512KB");

  /** Ratis asks for the largest entry and some bytes. */
  private static final SizeInBytes BUFFER_BYTES = SizeInBytes.valueOf("576KB");

  private static final SizeInBytes SEGMENT_BYTES = SizeInBytes.valueOf("1MB");
  private static final int PENDING_REQUESTS = 64;

  private RaftSettings() {}

  static RaftProperties properties(RaftOptions options) {
    RaftProperties to = new RaftProperties();
    RaftConfigKeys.Rpc.setType(to, SupportedRpcType.GRPC);
    GrpcConfigKeys.Server.setHost(to, options.listen().host());
    GrpcConfigKeys.Server.setPort(to, options.listen().port());
    RaftServerConfigKeys.setStorageDir(to, List.of(options.dir().toFile()));
    elections(to, options);
    log(to);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(to, true);
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(to, options.snapshotEvery());
    RaftServerConfigKeys.Snapshot.setRetentionFileNum(to, 2);
    RaftServerConfigKeys.Write.setElementLimit(to, PENDING_REQUESTS);
    RaftServerConfigKeys.Write.setByteLimit(to, SizeInBytes.valueOf("4MB"));
    RaftServerConfigKeys.Read.setOption(to, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
    RaftServerConfigKeys.Read.setTimeout(to, millis(options.answerTimeoutMillis()));
    RaftServerConfigKeys.ThreadPool.setProxyCached(to, true);
    RaftServerConfigKeys.ThreadPool.setServerCached(to, true);
    RaftServerConfigKeys.ThreadPool.setClientCached(to, true);
    RaftClientConfigKeys.Rpc.setRequestTimeout(to, millis(options.answerTimeoutMillis()));
    return to;
  }

  private static void elections(RaftProperties to, RaftOptions options) {
    TimeDuration least = millis(options.electionTimeoutMillis());
    TimeDuration most = millis(2L * options.electionTimeoutMillis());
    RaftServerConfigKeys.Rpc.setTimeoutMin(to, least);
    RaftServerConfigKeys.Rpc.setTimeoutMax(to, most);
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(to, least);
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(to, most);
    RaftServerConfigKeys.Rpc.setRequestTimeout(to, millis(options.answerTimeoutMillis()));
  }

  private static void log(RaftProperties to) {
    RaftServerConfigKeys.Log.setSegmentSizeMax(to, SEGMENT_BYTES);
    RaftServerConfigKeys.Log.setPreallocatedSize(to, SizeInBytes.valueOf("64KB"));
    RaftServerConfigKeys.Log.setWriteBufferSize(to, BUFFER_BYTES);
    RaftServerConfigKeys.Log.setSegmentCacheNumMax(to, 2);
    RaftServerConfigKeys.Log.setSegmentCacheSizeMax(to, SizeInBytes.valueOf("2MB"));
    RaftServerConfigKeys.Log.setLogMetadataEnabled(to, false);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(to, true);
    RaftServerConfigKeys.Log.setPurgeGap(to, 16);
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(to, ENTRY_BYTES);
    RaftServerConfigKeys.Log.Appender.setSnapshotChunkSizeMax(to, ENTRY_BYTES);
  }

  static Parameters parameters(RaftOptions options) {
    Parameters parameters = new Parameters();
    options
        .tls()
        .ifPresent(
            tls ->
                GrpcConfigKeys.TLS.setConf(
                    parameters,
                    new GrpcTlsConfig(
                        tls.key().toFile(),
                        tls.certificate().toFile(),
                        tls.authority().toFile(),
                        true)));
    return parameters;
  }

  static TimeDuration millis(long millis) {
    return TimeDuration.valueOf(millis, java.util.concurrent.TimeUnit.MILLISECONDS);
  }
}
