package io.orbitkv.manager.bench;

import io.orbitkv.client.Answer;
import io.orbitkv.client.ClientOptions;
import io.orbitkv.client.Lease;
import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.Registration;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.gpu.StagedPages;
import io.orbitkv.client.gpu.StagingOptions;
import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.cuda.CudaDevice;
import io.orbitkv.ffi.cuda.CudaException;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.workload.BlockPattern;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** An engine whose pages lie on a GPU, with a session for restores and one for publishes. */
final class GpuEngine implements AutoCloseable {
  private static final int OPERATION_MILLIS = 60_000;

  private final CudaDevice device;
  private final GpuShape shape;
  private final long memory;
  private final StagedPages pages;
  private final OrbitClient client;
  private final OrbitClient save;
  private final IntRun shuffled;

  private GpuEngine(
      CudaDevice device,
      GpuShape shape,
      long memory,
      StagedPages pages,
      OrbitClient client,
      OrbitClient save) {
    this.device = device;
    this.shape = shape;
    this.memory = memory;
    this.pages = pages;
    this.client = client;
    this.save = save;
    this.shuffled = shuffled(shape.pages());
  }

  static GpuEngine connect(CudaDevice device, String socket, GpuShape shape, StagingOptions staging)
      throws CudaException, NativeException {
    long memory = device.allocate(shape.bytes());
    StagedPages pages =
        StagedPages.create(device, shape.declaration(), new long[] {memory}, staging);
    ClientOptions options =
        ClientOptions.of(socket)
            .withClientName("orbitkv-bench")
            .withOperationMillis(OPERATION_MILLIS)
            .withReconnect(false);
    Registration registration = new Registration(shape.register(pages.staging()), List.of(), pages);
    OrbitClient client = opened(OrbitClient.connect(options, registration));
    return new GpuEngine(device, shape, memory, pages, client, opened(client.openSaveSession()));
  }

  private static OrbitClient opened(Answer<OrbitClient> answer) {
    return switch (answer) {
      case Answer.Ok<OrbitClient>(OrbitClient client) -> client;
      case Answer.Refused<OrbitClient>(Refusal refusal) ->
          throw new Failure(
              "the Manager refused the registration: %s (%s)"
                  .formatted(refusal.message(), refusal.name()),
              refusal.remedy());
    };
  }

  private static IntRun shuffled(int pages) {
    int[] order = IntRun.range(0, pages).toArray();
    Random random = new Random(1);
    for (int i = pages - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int page = order[i];
      order[i] = order[j];
      order[j] = page;
    }
    return IntRun.owning(order);
  }

  /** Every page, in an order without order. */
  IntRun pages() {
    return shuffled;
  }

  /** One half of the pages, 0 or 1. */
  IntRun half(int which) {
    int middle = shape.pages() / 2;
    int[] all = shuffled.toArray();
    return IntRun.owning(Arrays.copyOfRange(all, which * middle, (which + 1) * middle));
  }

  /** The keys of a batch, a block for each of those pages; no two batches share one. */
  KeyRun keys(long batch, IntRun pages) {
    byte[] packed = new byte[pages.size() * BlockPattern.KEY_BYTES];
    for (int i = 0; i < pages.size(); i++) {
      BlockPattern.key(0, batch * shape.pages() + i, packed, i * BlockPattern.KEY_BYTES);
    }
    return KeyRun.of(packed, BlockPattern.KEY_BYTES);
  }

  /** Publishes pages. */
  void publish(KeyRun keys, IntRun pages) {
    PublishResult result = save.publish(new PublishRequest(0, "bench", keys, pages));
    if (!(result instanceof PublishResult.Published(var reply, _, _))
        || reply.count(BlockOutcome.STORED) != keys.count()) {
      throw new Failure("a publish of new blocks was answered by " + result, "");
    }
  }

  Lease lease(KeyRun keys) {
    QueryResult query =
        client.query(new QueryRequest(0, 0, "bench", List.of(new QueryRequest.GroupKeys(0, keys))));
    if (!(query instanceof QueryResult.Ready(var lease, _))) {
      throw new Failure("a query of blocks that are there was answered by " + query, "");
    }
    return lease;
  }

  /** Restores a batch into as many pages. */
  void restore(Lease lease, IntRun pages) {
    RestoreResult result =
        client.restore(
            lease,
            new RestoreRequest("bench", List.of(new RestoreRequest.GroupPages(0, 0, pages))));
    if (!(result instanceof RestoreResult.Restored)) {
      throw new Failure("a restore was answered by " + result, "");
    }
  }

  void release(Lease lease) {
    client.release(lease).orThrow();
  }

  GpuShape shape() {
    return shape;
  }

  /** Where the pages are. */
  long memory() {
    return memory;
  }

  @Override
  public void close() {
    client.close();
    try {
      pages.close();
      device.free(memory);
    } catch (CudaException failed) {
      throw new Failure("the GPU's memory was not freed: " + failed.getMessage(), "", failed);
    }
  }
}
