package io.orbitkv.state.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StateFormatTest {

  private static final GroupSpec FULL = Samples.group(0, 64, new RecoveryRule.Prefix());
  private static final GroupSpec WINDOW = Samples.group(1, 64, new RecoveryRule.Window(100));
  private static final StateFormat BASE = Samples.format(FULL, WINDOW);

  @Test
  void shouldNameTheDifferingFieldAndBothValues() {
    Map<String, StateFormat> variants = new LinkedHashMap<>();
    variants.put("modelDigest", with("other", "engine-1.2", "bfloat16", "NHD"));
    variants.put("implementationDigest", with("sha256:model", "engine-2", "bfloat16", "NHD"));
    variants.put("dtype", with("sha256:model", "engine-1.2", "fp8_e4m3", "NHD"));
    variants.put("layout", with("sha256:model", "engine-1.2", "bfloat16", "HND"));
    variants.put("parallel.tensorParallel", with(new ParallelShape(2, 1, 1, 8)));
    variants.put("parallel.pipelineParallel", with(new ParallelShape(1, 2, 1, 8)));
    variants.put("parallel.contextParallel", with(new ParallelShape(1, 1, 2, 8)));
    variants.put("parallel.kvHeads", with(new ParallelShape(1, 1, 1, 4)));
    variants.put("groups.size", Samples.format(FULL));
    variants.put("groups[1].groupId", second(3, StateComponent.SWA, 64, 100, false, 4096));
    variants.put("groups[1].component", second(1, StateComponent.DRAFT, 64, 100, false, 4096));
    variants.put("groups[1].pageTokens", second(1, StateComponent.SWA, 16, 100, false, 4096));
    variants.put("groups[1].rule", second(1, StateComponent.SWA, 64, 101, false, 4096));
    variants.put("groups[1].replicated", second(1, StateComponent.SWA, 64, 100, true, 4096));
    variants.put("groups[1].bytesPerBlock", second(1, StateComponent.SWA, 64, 100, false, 8192));

    variants.forEach(
        (field, variant) -> {
          FormatMismatch there = BASE.firstDifference(variant).orElseThrow();
          FormatMismatch back = variant.firstDifference(BASE).orElseThrow();
          assertEquals(field, there.field());
          assertNotEquals(there.ours(), there.theirs());
          assertEquals(field, back.field());
          assertEquals(there.ours(), back.theirs());
          assertEquals(there.theirs(), back.ours());
          assertNotEquals(BASE.fingerprint(), variant.fingerprint(), field);
        });
    assertEquals(
        "dtype differs: bfloat16 here, fp8_e4m3 there",
        BASE.firstDifference(variants.get("dtype")).orElseThrow().message());
  }

  @Test
  void shouldIgnoreTheOrderInWhichGroupsAreDeclared() {
    StateFormat reversed = Samples.format(WINDOW, FULL);
    assertEquals(BASE, reversed);
    assertEquals(Optional.empty(), BASE.firstDifference(reversed));
    assertEquals(BASE.fingerprint(), reversed.fingerprint());
  }

  @Test
  void shouldKeepItsCanonicalTextForEver() {
    assertEquals(
        """
        orbitkv-format:1
        modelDigest:sha256:model
        implementationDigest:engine-1.2
        dtype:bfloat16
        layout:NHD
        parallel:1,1,1,8
        group:0,ATTENTION_KV,64,prefix,false,4096
        group:1,SWA,64,window:100,false,4096
        group:2,RECURRENT,64,checkpoint,false,4096
        """,
        Samples.format(FULL, WINDOW, Samples.group(2, 64, new RecoveryRule.Checkpoint()))
            .canonicalText());
    // sha256sum of BASE's text, computed by the coreutils tool.
    assertEquals("070ab93ec020e4215f82316b029efe73", BASE.fingerprint());
  }

  @Test
  void shouldRefuseBadFieldsByName() {
    List<GroupSpec> groups = List.of(FULL);
    assertRefused("modelDigest", StateFormat.of("", "i", "d", "l", Samples.SINGLE, groups));
    assertRefused(
        "modelDigest", StateFormat.of("x".repeat(129), "i", "d", "l", Samples.SINGLE, groups));
    assertRefused(
        "implementationDigest", StateFormat.of("m", "a\nb", "d", "l", Samples.SINGLE, groups));
    assertRefused("dtype", StateFormat.of("m", "i", "a b", "l", Samples.SINGLE, groups));
    assertRefused("layout", StateFormat.of("m", "i", "d", "x".repeat(65), Samples.SINGLE, groups));
    assertRefused("groups", StateFormat.of("m", "i", "d", "l", Samples.SINGLE, List.of()));
    assertRefused(
        "groups[1].groupId",
        StateFormat.of("m", "i", "d", "l", Samples.SINGLE, List.of(FULL, FULL)));
    assertThrows(IllegalArgumentException.class, () -> with("", "i", "d", "l"));
  }

  @Test
  void shouldRefuseParallelShapesByField() {
    assertRefused("tensorParallel", ParallelShape.of(0, 1, 1, 8));
    assertRefused("pipelineParallel", ParallelShape.of(1, -1, 1, 8));
    assertRefused("contextParallel", ParallelShape.of(1, 1, 1L << 33, 8));
    assertRefused("kvHeads", ParallelShape.of(1, 1, 1, -1));
    assertRefused("ranks", ParallelShape.of(65_536, 65_536, 65_536, 8));
    assertEquals(16, ParallelShape.of(8, 2, 1, 0).orElseThrow().ranks());
  }

  private static void assertRefused(String field, Checked<?> checked) {
    assertEquals(field, checked.refusal().orElseThrow().field());
  }

  private static StateFormat with(String model, String code, String dtype, String layout) {
    return new StateFormat(model, code, dtype, layout, Samples.SINGLE, BASE.groups());
  }

  private static StateFormat with(ParallelShape shape) {
    return new StateFormat("sha256:model", "engine-1.2", "bfloat16", "NHD", shape, BASE.groups());
  }

  private static StateFormat second(
      int id, StateComponent component, int page, int window, boolean replicated, long bytes) {
    return Samples.format(
        FULL,
        new GroupSpec(id, component, page, new RecoveryRule.Window(window), replicated, bytes));
  }
}
