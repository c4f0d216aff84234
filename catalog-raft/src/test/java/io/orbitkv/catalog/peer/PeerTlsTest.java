package io.orbitkv.catalog.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.catalog.peer.PeerStats.Side;
import io.orbitkv.catalog.peer.proto.GetPlacementsRequest;
import io.orbitkv.catalog.peer.proto.PeerGrpc;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both sides show certificates that name their nodes. */
class PeerTlsTest {
  private static final Duration SECONDS = Duration.ofSeconds(10);

  @TempDir Path dir;

  private static PeerSecurity with(PeerSecurity.TlsFiles files) {
    return new PeerSecurity(Optional.empty(), Optional.of(files));
  }

  @Test
  void shouldSpeakOnlyWithHostsThatShowACertificateOfTheirNode() throws Exception {
    Certificates certificates = new Certificates(dir);
    PeerSecurity.TlsFiles ofA = certificates.issue("a");
    try (TestHost a = new TestHost("a", with(ofA), PeerLimits.DEFAULT);
        TestHost b = new TestHost("b", with(certificates.issue("b")), PeerLimits.DEFAULT);
        TestHost impostor = new TestHost("c", with(ofA), PeerLimits.DEFAULT);
        TestHost plain = new TestHost("d", PeerSecurity.NONE, PeerLimits.DEFAULT)) {
      assertInstanceOf(PeerAnswer.Reached.class, a.to(b).placements(Set.of(1), SECONDS).join());

      Refusal refusal = failure(impostor.to(b).placements(Set.of(1), SECONDS).join());
      assertTrue(refusal.reason().contains("does not name c"), refusal.reason());
      failure(a.to(impostor).placements(Set.of(1), SECONDS).join());
      failure(plain.to(b).placements(Set.of(1), SECONDS).join());

      ManagedChannel bare =
          Grpc.newChannelBuilderForAddress(
                  "127.0.0.1",
                  b.server.port(),
                  TlsChannelCredentials.newBuilder().trustManager(ofA.authority().toFile()).build())
              .overrideAuthority("b")
              .build();
      try {
        Metadata headers = new Metadata();
        headers.put(PeerAuth.NODE, "a");
        PeerGrpc.PeerBlockingStub stub =
            PeerGrpc.newBlockingStub(bare)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                .withDeadlineAfter(10, TimeUnit.SECONDS);
        StatusRuntimeException refused =
            org.junit.jupiter.api.Assertions.assertThrows(
                StatusRuntimeException.class,
                () -> stub.getPlacements(GetPlacementsRequest.getDefaultInstance()));
        assertEquals(Status.Code.UNAUTHENTICATED, refused.getStatus().getCode());
        assertTrue(refused.toString().contains("shows no certificate"), refused.toString());
      } finally {
        bare.shutdownNow();
      }
      assertEquals(2, b.stats.total(Side.SERVER, "UNAUTHENTICATED"));
    }
  }

  private static Refusal failure(PeerAnswer<?> answer) {
    return assertInstanceOf(PeerAnswer.Failed.class, answer).refusal();
  }
}
