package io.orbitkv.manager.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.eviction.Eviction;
import io.orbitkv.manager.config.Settings.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
  @TempDir private Path folder;

  @Test
  void shouldPutAFlagBeforeTheEnvironmentBeforeTheFileBeforeTheDefault() throws IOException {
    String file = file("pool-size = \"3gb\"\nlease-ttl = \"3s\"\nticket-timeout = \"3s\"\n");
    Settings settings =
        Settings.resolve(
            Map.of(Setting.CONFIG, file, Setting.POOL_SIZE, "1gb"),
            Map.of("ORBITKV_POOL_SIZE", "2gb", "ORBITKV_LEASE_TTL", "2s"));
    assertEquals(new Settings.Value("1gb", Source.FLAG), settings.value(Setting.POOL_SIZE));
    assertEquals(new Settings.Value("2s", Source.ENVIRONMENT), settings.value(Setting.LEASE_TTL));
    assertEquals(new Settings.Value("3s", Source.FILE), settings.value(Setting.TICKET_TIMEOUT));
    assertEquals(
        new Settings.Value("60s", Source.DEFAULT), settings.value(Setting.MAX_TICKET_TIMEOUT));
    DaemonConfig config = DaemonConfig.of(settings);
    assertEquals(1L << 30, config.host().poolBytes());
    assertEquals(2_000, config.host().leaseTtlMillis());
    assertEquals(3_000, config.endpoint().limits().ticketMillis());
  }

  @Test
  void shouldFindTheFileByItsVariableToo() throws IOException {
    String file = file("eviction = \"tinylfu\"\nverify = false\nallow-uid = [7, 8]\n");
    DaemonConfig config =
        DaemonConfig.of(Settings.resolve(Map.of(), Map.of("ORBITKV_CONFIG", file)));
    assertEquals(Eviction.TINYLFU, config.host().eviction());
    assertTrue(!config.host().verify());
    assertEquals(Set.of(7, 8), config.endpoint().allowedUids());
  }

  @Test
  void shouldNameAnUnknownKeyOfTheFileAndTheNearestKnown() throws IOException {
    String file = file("pol-size = \"3gb\"\n");
    BadSetting bad =
        assertThrows(
            BadSetting.class, () -> Settings.resolve(Map.of(Setting.CONFIG, file), Map.of()));
    assertTrue(bad.toString().contains("pol-size"), bad.toString());
    assertTrue(bad.toString().contains("did you mean pool-size?"), bad.toString());
  }

  @Test
  void shouldTakeAVariableThatIsNearlyASettingForASlip() {
    BadSetting slip =
        assertThrows(
            BadSetting.class,
            () -> Settings.resolve(Map.of(), Map.of("ORBITKV_POOL_SIZEE", "1gb")));
    assertEquals(
        "the environment has ORBITKV_POOL_SIZEE, which is no setting; did you mean"
            + " ORBITKV_POOL_SIZE?",
        slip.getMessage());
    for (String other : List.of("LAUNCHER", "JAVA", "LIB", "BUILD", "TMPDIR", "AOT_OUTPUT")) {
      Settings.resolve(Map.of(), Map.of("ORBITKV_" + other, "x"));
    }
  }

  @Test
  void shouldSayInWhichLineAKeyIsUnknownAndThatSectionsAreNot() throws IOException {
    Path file = folder.resolve("lines.toml");
    Files.writeString(file, "# mine\neviction = \"lru\"\npool-sise = \"1gb\"\n");
    String unknown = refusal(file);
    assertTrue(unknown.contains(", line 3, has the unknown key pool-sise"), unknown);
    Files.writeString(file, "[manager]\npool-size = \"1gb\"\n");
    String section = refusal(file);
    assertTrue(section.contains("has the section [manager]"), section);
    Files.writeString(file, "eviction = \"lru\"\npool-size = = 3\n");
    String malformed = refusal(file);
    assertTrue(malformed.contains("line 2, is no TOML"), malformed);
  }

  private static String refusal(Path file) {
    return String.valueOf(
        assertThrows(
                BadSetting.class,
                () -> Settings.resolve(Map.of(Setting.CONFIG, file.toString()), Map.of()))
            .getMessage());
  }

  @Test
  void shouldRefuseAFileThatIsNoToml() throws IOException {
    String file = file("pool-size = [\n");
    assertThrows(BadSetting.class, () -> Settings.resolve(Map.of(Setting.CONFIG, file), Map.of()));
    assertThrows(
        BadSetting.class,
        () -> Settings.resolve(Map.of(Setting.CONFIG, folder + "/none"), Map.of()));
  }

  @Test
  void shouldNameTheSettingThatCannotBeUsedAsItWasGiven() throws IOException {
    assertBad("--pool-size", Map.of(Setting.POOL_SIZE, "4 parsecs"), Map.of());
    assertBad("--pool-size", Map.of(Setting.POOL_SIZE, "1kb"), Map.of());
    assertBad("--eviction", Map.of(Setting.EVICTION, "fifo"), Map.of());
    assertBad("--http-addr", Map.of(Setting.HTTP_ADDR, "9091"), Map.of());
    assertBad("--journal-retention", Map.of(Setting.JOURNAL_RETENTION, "7"), Map.of());
    assertBad("--journal-sync", Map.of(Setting.JOURNAL_SYNC, "2m"), Map.of());
    assertBad("--max-ticket-timeout", Map.of(Setting.TICKET_TIMEOUT, "2m"), Map.of());
    assertBad("ORBITKV_VERIFY", Map.of(), Map.of("ORBITKV_VERIFY", "perhaps"));
    String file = file("copy-workers = 0\n");
    assertBad("copy-workers in", Map.of(Setting.CONFIG, file), Map.of());
  }

  @Test
  void shouldRefuseHalfAClusterAndNameWhatIsMissing() {
    Map<Setting, String> whole =
        Map.of(
            Setting.NODE_ID, "a",
            Setting.ETCD_ENDPOINTS, "127.0.0.1:2379, https://[::1]:2379",
            Setting.PEER_ADDR, "127.0.0.1:0",
            Setting.CATALOG_ADDR, "127.0.0.1:7473",
            Setting.TRANSFER_ADDR, "127.0.0.1:0",
            Setting.PEER_TOKEN_FILE, "token");
    ClusterConfig config = DaemonConfig.with(whole).cluster().orElseThrow();
    assertEquals("a", config.node().text());
    assertEquals(List.of("http://127.0.0.1:2379", "https://[::1]:2379"), config.etcd());
    assertEquals(3, config.replicationFactor());
    for (Setting missing : whole.keySet()) {
      Map<Setting, String> half = new EnumMap<>(whole);
      half.remove(missing);
      assertBad("needs " + missing.flag(), half, Map.of());
    }
    assertBad(
        "ORBITKV_NODE_ID: needs --etcd-endpoints, --peer-addr",
        Map.of(),
        Map.of("ORBITKV_NODE_ID", "a"));
    assertBad("needs --peer-key", with(whole, Setting.PEER_CERT, "c.pem"), Map.of());
    assertBad("every address", with(whole, Setting.PEER_ADDR, "0.0.0.0:7000"), Map.of());
    assertBad("needs a port", with(whole, Setting.CATALOG_ADDR, "127.0.0.1:0"), Map.of());
    assertBad("--node-id", with(whole, Setting.NODE_ID, "Host 1"), Map.of());
    assertBad("--etcd-endpoints", with(whole, Setting.ETCD_ENDPOINTS, "etcd"), Map.of());
    assertBad("--member-ttl", with(whole, Setting.MEMBER_TTL, "1s"), Map.of());
    assertBad("--cluster", with(whole, Setting.CLUSTER, "My Cluster"), Map.of());
    assertTrue(DaemonConfig.with(Map.of()).cluster().isEmpty(), "alone without any of them");
  }

  private static Map<Setting, String> with(
      Map<Setting, String> settings, Setting setting, String text) {
    Map<Setting, String> changed = new EnumMap<>(settings);
    changed.put(setting, text);
    return changed;
  }

  @Test
  void shouldBeUsableWithEveryDefault() {
    DaemonConfig config = DaemonConfig.of(Settings.resolve(Map.of(), Map.of()));
    assertEquals(4L << 30, config.host().poolBytes());
    assertEquals(config.host().poolBytes(), config.host().globalBudgetBytes());
    assertEquals(30_000, config.endpoint().limits().leaseMillis());
    assertEquals(0600, config.endpoint().socketMode());
  }

  @Test
  void shouldFindEverySettingInTheOperationsGuide() throws IOException {
    String guide =
        Files.readString(Path.of(System.getProperty("basedir", "."), "../docs/operations.md"));
    for (Setting setting : Setting.values()) {
      assertTrue(
          guide.contains("`" + setting.flag() + " ") || guide.contains("`" + setting.flag() + "`"),
          setting.flag());
    }
  }

  @Test
  void shouldReadSizesAndTimes() {
    assertEquals(4L << 30, Quantity.bytes("4gb"));
    assertEquals(4L << 30, Quantity.bytes("4 GiB"));
    assertEquals(512L << 20, Quantity.bytes("512mb"));
    assertEquals(123, Quantity.bytes("123"));
    assertEquals(50_000, Quantity.time("50us").toNanos());
    assertEquals(1_800, Quantity.time("30m").toSeconds());
    assertEquals(0, Quantity.time("0").toNanos());
    for (String bad : new String[] {"", "gb", "4xb", "-4gb", "1.5gb", "99999999999999tb"}) {
      assertThrows(IllegalArgumentException.class, () -> Quantity.bytes(bad), bad);
    }
    for (String bad : new String[] {"", "5", "s", "-5s", "5 weeks"}) {
      assertThrows(IllegalArgumentException.class, () -> Quantity.time(bad), bad);
    }
    assertEquals("1.50 GiB", Quantity.bytesText(3L << 29));
    assertEquals("17 B", Quantity.bytesText(17));
  }

  private static void assertBad(
      String name, Map<Setting, String> flags, Map<String, String> environment) {
    BadSetting bad =
        assertThrows(
            BadSetting.class, () -> DaemonConfig.of(Settings.resolve(flags, environment)), name);
    assertTrue(bad.toString().contains(name), bad.toString());
  }

  private String file(String text) throws IOException {
    Path file = folder.resolve("orbitkv.toml");
    Files.writeString(file, text);
    return file.toString();
  }
}
