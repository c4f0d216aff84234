package io.orbitkv.state.identity;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Everything that decides what the bytes of a block mean. Two engines share bytes only when their
 * formats are equal in every field; the first difference is what a refused registration names.
 *
 * <p>The canonical text, from which the fingerprint is made, is ASCII with one line for each field
 * in the order below, each line ended by one line feed; groups are in ascending order of their id:
 *
 * <pre>
 * orbitkv-format:1
 * modelDigest:MODEL
 * implementationDigest:IMPLEMENTATION
 * dtype:DTYPE
 * layout:LAYOUT
 * parallel:TP,PP,CP,KVHEADS
 * group:ID,COMPONENT,PAGETOKENS,RULE,REPLICATED,BYTESPERBLOCK
 * </pre>
 *
 * where RULE is {@code prefix}, {@code window:TOKENS} or {@code checkpoint}, COMPONENT is the name
 * of the constant in {@link StateComponent}, and REPLICATED is {@code true} or {@code false}.
 *
 * @param modelDigest the model's weights and configuration, 1 to {@value Limits#MAX_DIGEST_CHARS}
 *     visible ASCII characters
 * @param implementationDigest the code that writes the state, likewise
 * @param dtype the element type, 1 to {@value Limits#MAX_NAME_CHARS} visible ASCII characters
 * @param layout the order of dimensions in a block, likewise
 * @param parallel how the model is cut into shards
 * @param groups the groups, kept in ascending order of their id
 */
public record StateFormat(
    String modelDigest,
    String implementationDigest,
    String dtype,
    String layout,
    ParallelShape parallel,
    List<GroupSpec> groups) {

  /**
   * Takes fields that were checked before.
   *
   * @throws IllegalArgumentException when {@link #of} would refuse them
   */
  public StateFormat {
    groups = groups.stream().sorted(Comparator.comparingInt(GroupSpec::groupId)).toList();
    Checked.require(check(modelDigest, implementationDigest, dtype, layout, groups));
  }

  /** Checks untrusted fields. A refused group is named by its place in {@code groups}. */
  public static Checked<StateFormat> of(
      String modelDigest,
      String implementationDigest,
      String dtype,
      String layout,
      ParallelShape parallel,
      List<GroupSpec> groups) {
    InvalidField problem = check(modelDigest, implementationDigest, dtype, layout, groups);
    return problem == null
        ? new Checked.Valid<>(
            new StateFormat(modelDigest, implementationDigest, dtype, layout, parallel, groups))
        : new Checked.Invalid<>(problem);
  }

  /** The first field in which {@code other} differs; empty when the two may share bytes. */
  public Optional<FormatMismatch> firstDifference(StateFormat other) {
    if (equals(other)) {
      return Optional.empty();
    }
    List<Field> ours = fields();
    List<Field> theirs = other.fields();
    // Both lists begin with the same names, the number of groups among them, so that the lists are
    // equally long wherever the fields before that number agree.
    for (int i = 0; i < ours.size(); i++) {
      Field our = ours.get(i);
      Field their = theirs.get(i);
      if (!our.value.equals(their.value)) {
        return Optional.of(new FormatMismatch(our.name, our.value, their.value));
      }
    }
    throw new AssertionError("formats differ in a field that fields() leaves out");
  }

  /** The first 128 bits of the SHA-256 of the canonical text, as 32 hexadecimal digits. */
  public String fingerprint() {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(canonicalText().getBytes(StandardCharsets.US_ASCII));
      return HexFormat.of().formatHex(digest, 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** The text that the fingerprint is made of. */
  public String canonicalText() {
    StringBuilder text = new StringBuilder(256);
    text.append("orbitkv-format:1\n");
    text.append("modelDigest:").append(modelDigest).append('\n');
    text.append("implementationDigest:").append(implementationDigest).append('\n');
    text.append("dtype:").append(dtype).append('\n');
    text.append("layout:").append(layout).append('\n');
    text.append("parallel:").append(parallel.tensorParallel());
    text.append(',').append(parallel.pipelineParallel());
    text.append(',').append(parallel.contextParallel());
    text.append(',').append(parallel.kvHeads()).append('\n');
    for (GroupSpec group : groups) {
      text.append("group:").append(group.groupId());
      text.append(',').append(group.component().name());
      text.append(',').append(group.pageTokens());
      text.append(',').append(group.rule());
      text.append(',').append(group.replicated());
      text.append(',').append(group.bytesPerBlock()).append('\n');
    }
    return text.toString();
  }

  private record Field(String name, String value) {
    Field(String name, long value) {
      this(name, Long.toString(value));
    }
  }

  private List<Field> fields() {
    List<Field> fields = new ArrayList<>(9 + 6 * groups.size());
    fields.add(new Field("modelDigest", modelDigest));
    fields.add(new Field("implementationDigest", implementationDigest));
    fields.add(new Field("dtype", dtype));
    fields.add(new Field("layout", layout));
    fields.add(new Field("parallel.tensorParallel", parallel.tensorParallel()));
    fields.add(new Field("parallel.pipelineParallel", parallel.pipelineParallel()));
    fields.add(new Field("parallel.contextParallel", parallel.contextParallel()));
    fields.add(new Field("parallel.kvHeads", parallel.kvHeads()));
    fields.add(new Field("groups.size", groups.size()));
    for (int i = 0; i < groups.size(); i++) {
      GroupSpec group = groups.get(i);
      String at = "groups[" + i + "].";
      fields.add(new Field(at + "groupId", group.groupId()));
      fields.add(new Field(at + "component", group.component().name()));
      fields.add(new Field(at + "pageTokens", group.pageTokens()));
      fields.add(new Field(at + "rule", group.rule().toString()));
      fields.add(new Field(at + "replicated", Boolean.toString(group.replicated())));
      fields.add(new Field(at + "bytesPerBlock", group.bytesPerBlock()));
    }
    return fields;
  }

  private static @Nullable InvalidField check(
      String modelDigest,
      String implementationDigest,
      String dtype,
      String layout,
      List<GroupSpec> groups) {
    InvalidField problem = Limits.checkText("modelDigest", modelDigest, Limits.MAX_DIGEST_CHARS);
    if (problem == null) {
      problem =
          Limits.checkText("implementationDigest", implementationDigest, Limits.MAX_DIGEST_CHARS);
    }
    if (problem == null) {
      problem = Limits.checkText("dtype", dtype, Limits.MAX_NAME_CHARS);
    }
    if (problem == null) {
      problem = Limits.checkText("layout", layout, Limits.MAX_NAME_CHARS);
    }
    return problem != null ? problem : GroupSpec.firstProblem(groups).orElse(null);
  }
}
