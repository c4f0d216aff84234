package io.orbitkv.catalog.membership;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The few operations on etcd that membership needs, each over within a timeout. jetcd's own retries
 * are off: the membership thread decides when to try again. Belongs to that thread.
 */
final class EtcdStore {
  private static final Duration CONNECT = Duration.ofSeconds(2);
  private static final Duration KEEPALIVE = Duration.ofSeconds(5);
  private static final Duration KEEPALIVE_TIMEOUT = Duration.ofSeconds(2);

  private final String prefix;
  private final long timeoutMillis;
  private final ExecutorService executor;
  private final Client client;

  EtcdStore(List<String> endpoints, String prefix, long timeoutMillis) {
    this.prefix = prefix;
    this.timeoutMillis = timeoutMillis;
    this.executor =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().name("orbitkv-etcd").daemon().factory());
    this.client =
        Client.builder()
            .endpoints(endpoints.toArray(String[]::new))
            .executorService(executor)
            .connectTimeout(CONNECT)
            .keepaliveTime(KEEPALIVE)
            .keepaliveTimeout(KEEPALIVE_TIMEOUT)
            .keepaliveWithoutCalls(false)
            .retryMaxAttempts(1)
            .retryDelay(100)
            .retryMaxDelay(200)
            .retryMaxDuration(Duration.ofMillis(timeoutMillis))
            .waitForReady(false)
            .interceptor(new Deadlines(timeoutMillis))
            .build();
  }

  /** Every call but a watch ends by itself, so that none piles up while etcd is silent. */
  private record Deadlines(long millis) implements ClientInterceptor {
    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      boolean watch = "etcdserverpb.Watch".equals(method.getServiceName());
      CallOptions bounded =
          watch ? options : options.withDeadlineAfter(millis, TimeUnit.MILLISECONDS);
      return next.newCall(method, bounded);
    }
  }

  /**
   * A value with the revision that last changed it.
   *
   * @param text the value
   * @param modRevision etcd's revision of its last change
   */
  record Value(String text, long modRevision) {}

  /**
   * All keys at one revision, without the prefix.
   *
   * @param revision the revision
   * @param values by key
   */
  record Contents(long revision, Map<String, Value> values) {
    /** Revision of a key's last change, 0 when it is not there. */
    long modRevision(String key) {
      Value value = values.get(key);
      return value == null ? 0 : value.modRevision;
    }
  }

  Contents read() throws EtcdTrouble, InterruptedException {
    GetResponse response =
        await(
            "read",
            client.getKVClient().get(bytes(prefix), GetOption.builder().isPrefix(true).build()));
    Map<String, Value> values = new TreeMap<>();
    for (KeyValue pair : response.getKvs()) {
      String key = pair.getKey().toString(StandardCharsets.UTF_8).substring(prefix.length());
      values.put(
          key, new Value(pair.getValue().toString(StandardCharsets.UTF_8), pair.getModRevision()));
    }
    return new Contents(response.getHeader().getRevision(), values);
  }

  /** A write of a transaction; {@code lease} 0 for none. */
  record Put(String key, String text, long lease) {}

  /**
   * Writes all, if each key's last change is still at the revision given (0: it is not there).
   *
   * @return whether it was so
   */
  boolean write(Map<String, Long> unchanged, List<Put> puts)
      throws EtcdTrouble, InterruptedException {
    List<Cmp> conditions = new ArrayList<>();
    unchanged.forEach(
        (key, revision) ->
            conditions.add(
                new Cmp(bytes(prefix + key), Cmp.Op.EQUAL, CmpTarget.modRevision(revision))));
    List<Op> writes = new ArrayList<>();
    for (Put put : puts) {
      PutOption option = PutOption.builder().withLeaseId(put.lease).build();
      writes.add(Op.put(bytes(prefix + put.key), bytes(put.text), option));
    }
    return await(
            "write",
            client
                .getKVClient()
                .txn()
                .If(conditions.toArray(Cmp[]::new))
                .Then(writes.toArray(Op[]::new))
                .commit())
        .isSucceeded();
  }

  /** Takes a lease. */
  long grant(long ttlSeconds) throws EtcdTrouble, InterruptedException {
    return await("grant", client.getLeaseClient().grant(ttlSeconds)).getID();
  }

  /** Renews a lease; false when there is no such lease any more. */
  boolean renew(long lease) throws EtcdTrouble, InterruptedException {
    try {
      return await("renew", client.getLeaseClient().keepAliveOnce(lease)).getTTL() > 0;
    } catch (EtcdTrouble e) {
      if (String.valueOf(e.getMessage()).contains("lease not found")) {
        return false;
      }
      throw e;
    }
  }

  /** Gives a lease back, if etcd answers within the time. */
  void revoke(long lease, long millis) throws InterruptedException {
    try {
      client.getLeaseClient().revoke(lease).get(millis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // It runs out by itself.
    }
  }

  /**
   * Calls {@code changed} at each change behind a revision, and {@code ended} when it cannot go on.
   */
  Watch.Watcher watch(long afterRevision, Runnable changed, Runnable ended) {
    WatchOption option =
        WatchOption.builder()
            .isPrefix(true)
            .withRevision(afterRevision + 1)
            .withRequireLeader(true)
            .build();
    return client
        .getWatchClient()
        .watch(bytes(prefix), option, Watch.listener(_ -> changed.run(), _ -> ended.run(), ended));
  }

  private <T> T await(String what, CompletableFuture<T> future)
      throws EtcdTrouble, InterruptedException {
    try {
      return future.get(2 * timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new EtcdTrouble("etcd did not " + what + ": " + cause.getMessage());
    } catch (TimeoutException e) {
      future.cancel(true);
      throw new EtcdTrouble("etcd did not " + what + " within " + 2 * timeoutMillis + " ms");
    }
  }

  /** Closes the connections, which may take as long as given. */
  void close(long millis) throws InterruptedException {
    Thread closing = Thread.ofPlatform().daemon().name("orbitkv-etcd-close").start(client::close);
    closing.join(millis);
    executor.shutdownNow();
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }
}
