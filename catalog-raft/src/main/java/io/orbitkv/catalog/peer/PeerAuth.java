package io.orbitkv.catalog.peer;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.orbitkv.catalog.peer.PeerStats.Side;
import io.orbitkv.state.catalog.NodeId;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets only calls through that show what {@link PeerSecurity} asks for. With TLS the certificate
 * must name the node that the caller says it is. Others get UNAUTHENTICATED with a remedy; they are
 * counted, and logged once a second at most.
 */
final class PeerAuth implements ServerInterceptor {
  static final Metadata.Key<String> NODE =
      Metadata.Key.of("orbitkv-node", Metadata.ASCII_STRING_MARSHALLER);
  static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** The caller, in handlers. */
  static final Context.Key<NodeId> PEER = Context.key("orbitkv-peer");

  private static final Logger LOG = LoggerFactory.getLogger(PeerAuth.class);
  private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int DNS_NAME = 2;

  private final Optional<byte[]> tokenDigest;
  private final boolean tls;
  private final PeerStats stats;
  private final AtomicLong loggedAt = new AtomicLong(System.nanoTime() - LOG_NANOS);

  PeerAuth(PeerSecurity security, PeerStats stats) {
    this.tokenDigest = security.token().map(token -> digest("Bearer " + token));
    this.tls = security.tls().isPresent();
    this.stats = stats;
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    Optional<NodeId> peer = node(headers.get(NODE));
    String problem =
        peer.isEmpty() ? "it does not say which node it is" : problem(call, headers, peer.get());
    if (problem != null || peer.isEmpty()) {
      return refuse(call, peer, problem == null ? "" : problem);
    }
    Context context = Context.current().withValue(PEER, peer.get());
    return Contexts.interceptCall(context, call, headers, next);
  }

  private @Nullable String problem(ServerCall<?, ?> call, Metadata headers, NodeId peer) {
    if (tokenDigest.isPresent()) {
      String shown = headers.get(AUTHORIZATION);
      // Digests have one length, and isEqual looks at all of it whatever differs.
      if (!MessageDigest.isEqual(tokenDigest.get(), digest(shown == null ? "" : shown))) {
        return shown == null ? "it shows no token" : "its token is wrong";
      }
    }
    return tls ? certificateProblem(call, peer) : null;
  }

  private static @Nullable String certificateProblem(ServerCall<?, ?> call, NodeId peer) {
    SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    if (session == null) {
      return "its connection is not encrypted";
    }
    try {
      Certificate[] chain = session.getPeerCertificates();
      return chain.length > 0 && chain[0] instanceof X509Certificate own && names(own, peer)
          ? null
          : "its certificate does not name " + peer;
    } catch (SSLPeerUnverifiedException e) {
      return "it shows no certificate";
    }
  }

  private static boolean names(X509Certificate certificate, NodeId peer) {
    try {
      Collection<List<?>> names = certificate.getSubjectAlternativeNames();
      return names != null
          && names.stream()
              .anyMatch(
                  name ->
                      Integer.valueOf(DNS_NAME).equals(name.get(0))
                          && peer.toString().equals(name.get(1)));
    } catch (CertificateParsingException e) {
      return false;
    }
  }

  private <Q, R> ServerCall.Listener<Q> refuse(
      ServerCall<Q, R> call, Optional<NodeId> peer, String problem) {
    String name = peer.map(NodeId::toString).orElse("unnamed");
    stats.count(
        Side.SERVER,
        name,
        String.valueOf(call.getMethodDescriptor().getBareMethodName()),
        "UNAUTHENTICATED");
    long now = System.nanoTime();
    long last = loggedAt.get();
    if (now - last >= LOG_NANOS && loggedAt.compareAndSet(last, now)) {
      SocketAddress from = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
      LOG.warn("Refused a call of {} from {}: {}", name, from, problem);
    }
    call.close(
        Status.UNAUTHENTICATED.withDescription(
            problem + "; give all hosts the same peer token and certificates of one authority"),
        new Metadata());
    return new ServerCall.Listener<>() {};
  }

  private static Optional<NodeId> node(@Nullable String text) {
    try {
      return text == null ? Optional.empty() : Optional.of(new NodeId(text));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static byte[] digest(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
