package io.orbitkv.manager.config;

import io.orbitkv.core.remote.PeerSettings;
import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.Checked;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * How this host works with others, as it was asked for. It has no type of the parts that do it, so
 * that a Manager that works alone loads none of them.
 *
 * @param node this host
 * @param cluster the name that all its hosts share
 * @param etcd URIs of etcd, at least one
 * @param peer where it listens for calls, and what others are told; port 0 takes a free one
 * @param catalog the same for its part of the catalog; its port is never 0
 * @param catalogDir where that part is kept
 * @param transfer the same for reads of its blocks
 * @param engine what moves blocks
 * @param mooncakeLibrary where Mooncake's library is; empty to look for it
 * @param tokenFile the secret that all hosts share
 * @param tls certificates for calls; empty for none
 * @param replicationFactor hosts that hold each catalog shard
 * @param autoHandoffAfter how long a member of the catalog is gone until another takes its place;
 *     empty for never
 * @param memberTtl how long after its last renewal this host is taken for gone
 * @param work the bounds of what is under way with others
 */
public record ClusterConfig(
    NodeId node,
    String cluster,
    List<String> etcd,
    InetSocketAddress peer,
    InetSocketAddress catalog,
    Path catalogDir,
    InetSocketAddress transfer,
    Engine engine,
    Optional<Path> mooncakeLibrary,
    Path tokenFile,
    Optional<Tls> tls,
    int replicationFactor,
    Optional<Duration> autoHandoffAfter,
    Duration memberTtl,
    PeerSettings work) {

  /** What moves blocks between hosts. */
  public enum Engine {
    /** Mooncake where its library loads, else TCP. */
    AUTO,
    TCP,
    MOONCAKE
  }

  /** PEM files. */
  public record Tls(Path certificate, Path privateKey, Path authority) {}

  /** What a transfer engine holds. */
  private static final int MOST_GRANTS = 4096;

  /** What a host that works with others must be told. */
  private static final List<Setting> NEEDED =
      List.of(
          Setting.NODE_ID,
          Setting.ETCD_ENDPOINTS,
          Setting.PEER_ADDR,
          Setting.CATALOG_ADDR,
          Setting.TRANSFER_ADDR,
          Setting.PEER_TOKEN_FILE);

  private static final List<Setting> TLS_FILES =
      List.of(Setting.PEER_CERT, Setting.PEER_KEY, Setting.PEER_CA);

  /** Empty where nothing of it is set; what is set in part is refused. */
  static Optional<ClusterConfig> of(SettingReader in, Path journalDir, long poolBytes) {
    List<Setting> given = new ArrayList<>();
    for (Setting setting : Setting.values()) {
      if (setting.group() == Setting.Group.CLUSTER
          && in.settings().value(setting).source() != Settings.Source.DEFAULT
          && !in.text(setting).isEmpty()) {
        given.add(setting);
      }
    }
    if (given.isEmpty()) {
      return Optional.empty();
    }
    needAll(in, given.getFirst(), NEEDED);
    return Optional.of(
        new ClusterConfig(
            node(in),
            cluster(in),
            etcd(in),
            in.parsed(Setting.PEER_ADDR, ClusterConfig::reachable),
            catalog(in),
            file(in, Setting.CATALOG_DIR).orElse(journalDir.resolveSibling("catalog")),
            in.parsed(Setting.TRANSFER_ADDR, ClusterConfig::reachable),
            Engine.valueOf(
                in.oneOf(Setting.TRANSFER_ENGINE, Set.of("auto", "tcp", "mooncake"))
                    .toUpperCase(Locale.ROOT)),
            file(in, Setting.MOONCAKE_LIB),
            file(in, Setting.PEER_TOKEN_FILE).orElseThrow(),
            tls(in),
            in.number(Setting.REPLICATION_FACTOR, 1, 7),
            in.text(Setting.AUTO_HANDOFF_AFTER).equals("off")
                ? Optional.empty()
                : Optional.of(Duration.ofMillis(in.millis(Setting.AUTO_HANDOFF_AFTER))),
            ttl(in),
            work(in, poolBytes)));
  }

  /** Either all of them are set or the one that is lacks the others. */
  private static void needAll(SettingReader in, Setting given, List<Setting> needed) {
    List<String> missing =
        needed.stream().filter(setting -> in.text(setting).isEmpty()).map(Setting::flag).toList();
    if (!missing.isEmpty()) {
      throw in.bad(given, "needs %s as well".formatted(String.join(", ", missing)));
    }
  }

  private static NodeId node(SettingReader in) {
    return switch (NodeId.of(in.text(Setting.NODE_ID))) {
      case Checked.Valid<NodeId>(NodeId node) -> node;
      case Checked.Invalid<NodeId>(var problem) ->
          throw in.bad(Setting.NODE_ID, problem.toString());
    };
  }

  private static String cluster(SettingReader in) {
    String name = in.text(Setting.CLUSTER);
    if (!name.matches("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")) {
      throw in.bad(
          Setting.CLUSTER,
          "is 1 to 63 lower-case letters, digits and, inside, hyphens, not " + name);
    }
    return name;
  }

  private static List<String> etcd(SettingReader in) {
    List<String> endpoints = new ArrayList<>();
    for (String each : in.text(Setting.ETCD_ENDPOINTS).split(",", -1)) {
      String endpoint = each.strip();
      if (endpoint.isEmpty()) {
        continue;
      }
      String uri = endpoint.contains("://") ? endpoint : "http://" + endpoint;
      if (!uri.matches("https?://([^/:\\[\\]\\s]+|\\[[0-9A-Fa-f:.]+]):[0-9]{1,5}/?")) {
        throw in.bad(Setting.ETCD_ENDPOINTS, "\"%s\" is no http://HOST:PORT".formatted(endpoint));
      }
      endpoints.add(uri);
    }
    return List.copyOf(endpoints);
  }

  /** An address to listen at that can be told to others. */
  private static InetSocketAddress reachable(String text) {
    InetSocketAddress address = HttpAddress.parse(text);
    if (address.getAddress().isAnyLocalAddress()) {
      throw new IllegalArgumentException(
          "\"%s\" is every address of this host; name the one that the others reach"
              .formatted(text));
    }
    return address;
  }

  /** The catalog's log has this address for as long as this host is a member. */
  private static InetSocketAddress catalog(SettingReader in) {
    InetSocketAddress address = in.parsed(Setting.CATALOG_ADDR, ClusterConfig::reachable);
    if (address.getPort() == 0) {
      throw in.bad(Setting.CATALOG_ADDR, "needs a port, which stays the same over restarts");
    }
    return address;
  }

  private static Optional<Path> file(SettingReader in, Setting setting) {
    String text = in.text(setting);
    return text.isEmpty()
        ? Optional.empty()
        : Optional.of(Path.of(text).toAbsolutePath().normalize());
  }

  private static Optional<Tls> tls(SettingReader in) {
    Optional<Setting> given =
        TLS_FILES.stream().filter(setting -> !in.text(setting).isEmpty()).findFirst();
    if (given.isEmpty()) {
      return Optional.empty();
    }
    needAll(in, given.get(), TLS_FILES);
    return Optional.of(
        new Tls(
            file(in, Setting.PEER_CERT).orElseThrow(),
            file(in, Setting.PEER_KEY).orElseThrow(),
            file(in, Setting.PEER_CA).orElseThrow()));
  }

  private static Duration ttl(SettingReader in) {
    Duration ttl = Duration.ofMillis(in.millis(Setting.MEMBER_TTL));
    if (ttl.toSeconds() < 2 || ttl.toSeconds() > 60) {
      throw in.bad(Setting.MEMBER_TTL, "is 2s to 60s, not " + in.text(Setting.MEMBER_TTL));
    }
    return ttl;
  }

  private static PeerSettings work(SettingReader in, long poolBytes) {
    PeerSettings standard = PeerSettings.forPool(poolBytes);
    long fetched = budget(in, Setting.FETCH_BUDGET, standard.maxFetchBytes());
    long granted = budget(in, Setting.GRANT_BUDGET, standard.maxGrantedBytes());
    return new PeerSettings(
        fetched,
        Math.max(1, fetched / 2),
        standard.maxLookups(),
        in.millis(Setting.LOOKUP_TIMEOUT),
        in.millis(Setting.FETCH_TIMEOUT),
        granted,
        Math.max(1, granted / 2),
        in.number(Setting.MAX_GRANTS, 1, MOST_GRANTS),
        in.millis(Setting.GRANT_TTL),
        standard.stagingMillis(),
        standard.drainMillis());
  }

  private static long budget(SettingReader in, Setting setting, long half) {
    return in.text(setting).equals("half") ? half : in.bytes(setting, 4096, 1L << 50);
  }
}
