package io.orbitkv.catalog.peer;

import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.orbitkv.catalog.inventory.InventoryFrame;
import io.orbitkv.catalog.inventory.InventoryLink;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.catalog.peer.proto.InventoryDown;
import io.orbitkv.catalog.peer.proto.InventoryOpen;
import io.orbitkv.catalog.peer.proto.InventoryUp;
import io.orbitkv.catalog.peer.proto.PeerGrpc;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The sending end of an inventory stream over gRPC. */
final class GrpcInventoryLink
    implements InventoryLink, ClientResponseObserver<InventoryUp, InventoryDown> {
  private final Listener listener;
  private final Consumer<Status> ended;
  private final AtomicBoolean over = new AtomicBoolean();
  private boolean answered;
  private volatile @Nullable ClientCallStreamObserver<InventoryUp> up;

  GrpcInventoryLink(Listener listener, Consumer<Status> ended) {
    this.listener = listener;
    this.ended = ended;
  }

  void open(PeerGrpc.PeerStub stub, OwnerRun run, int catalogShard) {
    stub.inventory(this);
    write(
        InventoryUp.newBuilder()
            .setOpen(
                InventoryOpen.newBuilder().setOwner(Protos.run(run)).setCatalogShard(catalogShard))
            .build());
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<InventoryUp> stream) {
    up = stream;
  }

  @Override
  public void send(InventoryFrame frame) {
    write(InventoryProtos.frame(frame));
  }

  private void write(InventoryUp message) {
    ClientCallStreamObserver<InventoryUp> to = up;
    if (to == null || over.get()) {
      return; // its end was told or is being told
    }
    try {
      to.onNext(message);
    } catch (IllegalStateException e) {
      // The call ended at this moment, which onError tells.
    }
  }

  @Override
  public void onNext(InventoryDown down) {
    if (!answered) {
      answered = true;
      ended.accept(Status.OK);
    }
    if (over.get()) {
      return;
    }
    try {
      listener.reply(InventoryProtos.reply(down));
    } catch (IllegalArgumentException e) {
      finish(Status.INTERNAL.withDescription(e.getMessage()));
    }
  }

  @Override
  public void onError(Throwable failure) {
    finish(Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    finish(Status.OK.withDescription("the replica ended the stream"));
  }

  private void finish(Status status) {
    if (over.compareAndSet(false, true)) {
      ended.accept(status);
      listener.closed(status.getCode() + " " + status.getDescription());
    }
  }

  @Override
  public void close() {
    ClientCallStreamObserver<InventoryUp> to = up;
    if (over.compareAndSet(false, true) && to != null) {
      to.cancel("the sender is done with it", null);
      ended.accept(Status.CANCELLED);
    }
  }
}
