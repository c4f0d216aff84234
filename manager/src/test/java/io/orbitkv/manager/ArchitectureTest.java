package io.orbitkv.manager;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Holds the arrows between the modules and the purity of {@code io.orbitkv.state}.
 *
 * <p>{@code chaos} is built after this module; that nothing points at it is held here, what it
 * points at by its own Maven dependencies.
 */
class ArchitectureTest {

  /** For each module's package, the packages of ours that it may use besides itself. */
  private static final Map<String, List<String>> ARROWS =
      new TreeMap<>(
          Map.of(
              "state", List.of(),
              "ffi", List.of(),
              "journal", List.of("state"),
              "client", List.of("ffi"),
              "core", List.of("journal", "state", "ffi"),
              "transfer", List.of("ffi"),
              "catalog", List.of("state"),
              "manager",
                  List.of("journal", "state", "ffi", "client", "core", "transfer", "catalog")));

  /** Methods whose result differs from run to run, by owner and name. */
  private static final Map<String, Set<String>> IMPURE_METHODS =
      Map.of(
          "java.lang.System",
          Set.of("currentTimeMillis", "nanoTime", "getenv", "getProperty", "identityHashCode"),
          "java.lang.Math",
          Set.of("random"),
          "java.util.UUID",
          Set.of("randomUUID"),
          "java.util.Set",
          Set.of("of", "copyOf"),
          "java.util.Map",
          Set.of("of", "ofEntries", "copyOf"),
          "java.util.stream.Collectors",
          Set.of("toUnmodifiableSet", "toUnmodifiableMap"));

  /** A snapshot is written to and read from what the caller has opened. */
  private static final Set<String> CHECKSUMS_AND_SNAPSHOTS =
      Set.of(
          "java.io.DataInput",
          "java.io.DataOutput",
          "java.io.EOFException",
          "java.io.IOException",
          "java.util.zip.CRC32C",
          "java.util.zip.Checksum");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.orbitkv");

  @ParameterizedTest
  @ValueSource(
      strings = {"state", "ffi", "journal", "client", "core", "transfer", "catalog", "manager"})
  void shouldPointOnlyWhereTheDesignAllows(String module) {
    List<String> allowed = new ArrayList<>();
    allowed.add(packageOf(module));
    for (String target : ARROWS.getOrDefault(module, List.of())) {
      allowed.add(packageOf(target));
    }
    DescribedPredicate<JavaClass> forbidden =
        resideInAPackage("io.orbitkv..")
            .and(DescribedPredicate.not(resideInAnyPackage(allowed.toArray(String[]::new))));
    noClasses()
        .that()
        .resideInAPackage(packageOf(module))
        .should()
        .dependOnClassesThat(forbidden)
        .allowEmptyShould(true)
        .because("docs/ARCHITECTURE.md gives " + module + " the arrows " + ARROWS.get(module))
        .check(CLASSES);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "state",
        "native",
        "journal",
        "client",
        "core",
        "transfer",
        "catalog-raft",
        "manager"
      })
  void shouldSeeEveryModuleThatHasSources(String module) {
    Path sources = Path.of(System.getProperty("basedir", "."), "..", module, "src/main/java");
    String name =
        switch (module) {
          case "native" -> "ffi";
          case "catalog-raft" -> "catalog";
          default -> module;
        };
    assertEquals(
        Files.isDirectory(sources),
        CLASSES.stream().anyMatch(resideInAPackage(packageOf(name))),
        "sources and classes of " + module);
  }

  @Test
  void shouldKnowEveryPackageOfOurs() {
    for (JavaClass each : CLASSES) {
      String module = each.getPackageName().replace("io.orbitkv.", "").replaceFirst("\\..*", "");
      assertTrue(ARROWS.containsKey(module), each.getName() + " is in no known module");
    }
  }

  @Test
  void shouldKeepStateFreeOfEverythingButTheLanguage() {
    classes()
        .that()
        .resideInAPackage(packageOf("state"))
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(
                    packageOf("state"),
                    "java.lang",
                    "java.lang.annotation",
                    "java.lang.invoke",
                    "java.lang.runtime",
                    "java.math",
                    "java.nio",
                    "java.nio.charset",
                    "java.security",
                    "java.util",
                    "java.util.function",
                    "java.util.stream",
                    "com.google.errorprone.annotations",
                    "org.jspecify.annotations")
                .or(isOneOf(CHECKSUMS_AND_SNAPSHOTS)))
        .because("apply has no clock, no randomness, no I/O and no logging")
        .check(CLASSES);
  }

  @Test
  void shouldKeepStateDeterministic() {
    noClasses()
        .that()
        .resideInAPackage(packageOf("state"))
        .should()
        .accessTargetWhere(isImpure())
        .because("the fold of a journal is the same on every machine and in every run")
        .check(CLASSES);
    noClasses()
        .that()
        .resideInAPackage(packageOf("state"))
        .should()
        .dependOnClassesThat()
        .haveNameMatching(
            "java\\.util\\.(Random|SplittableRandom|IdentityHashMap|WeakHashMap|Date|Timer)"
                + "|java\\.lang\\.(Thread|ThreadLocal|Process|ProcessBuilder|Runtime)"
                + "|java\\.security\\.SecureRandom")
        .because("the fold of a journal is the same on every machine and in every run")
        .check(CLASSES);
  }

  private static DescribedPredicate<JavaAccess<?>> isImpure() {
    return DescribedPredicate.describe(
        "the target differs from run to run (a clock, randomness, an environment, an identity"
            + " hash, or the iteration order of an immutable set or map)",
        access ->
            IMPURE_METHODS
                .getOrDefault(access.getTargetOwner().getName(), Set.of())
                .contains(access.getName()));
  }

  private static DescribedPredicate<JavaClass> isOneOf(Set<String> names) {
    return DescribedPredicate.describe(
        "is one of " + names, each -> names.contains(each.getBaseComponentType().getName()));
  }

  private static String packageOf(String module) {
    return "io.orbitkv." + module + "..";
  }
}
