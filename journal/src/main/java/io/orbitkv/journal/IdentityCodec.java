package io.orbitkv.journal;

import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayList;
import java.util.List;

/** The parts of {@code NamespaceBound} that describe a model: its format and its groups. */
final class IdentityCodec {
  private static final int PREFIX = 1;
  private static final int WINDOW = 2;
  private static final int CHECKPOINT = 3;

  private IdentityCodec() {}

  static void encodeFormat(WireWriter out, int field, StateFormat format) {
    int mark = out.begin(field);
    out.string(1, format.modelDigest());
    out.string(2, format.implementationDigest());
    out.string(3, format.dtype());
    out.string(4, format.layout());
    int shape = out.begin(5);
    out.uint32(1, format.parallel().tensorParallel());
    out.uint32(2, format.parallel().pipelineParallel());
    out.uint32(3, format.parallel().contextParallel());
    out.uint32(4, format.parallel().kvHeads());
    out.end(shape);
    encodeGroups(out, 6, format.groups());
    out.end(mark);
  }

  static void encodeGroups(WireWriter out, int field, List<GroupSpec> groups) {
    for (GroupSpec group : groups) {
      int mark = out.begin(field);
      out.uint32(1, group.groupId());
      out.uint(2, EnumCodes.code(group.component()));
      out.uint32(3, group.pageTokens());
      switch (group.rule()) {
        case RecoveryRule.Prefix _ -> out.uint(4, PREFIX);
        case RecoveryRule.Window(int tokens) -> {
          out.uint(4, WINDOW);
          out.uint32(5, tokens);
        }
        case RecoveryRule.Checkpoint _ -> out.uint(4, CHECKPOINT);
      }
      out.bool(6, group.replicated());
      out.uint(7, group.bytesPerBlock());
      out.end(mark);
    }
  }

  static StateFormat decodeFormat(WireReader in) {
    int outer = in.enter();
    String modelDigest = "";
    String implementationDigest = "";
    String dtype = "";
    String layout = "";
    ParallelShape parallel = null;
    List<GroupSpec> groups = new ArrayList<>();
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> modelDigest = in.string();
        case 2 -> implementationDigest = in.string();
        case 3 -> dtype = in.string();
        case 4 -> layout = in.string();
        case 5 -> parallel = decodeShape(in);
        case 6 -> groups.add(decodeGroup(in));
        default -> throw in.unknownField("StateFormat");
      }
    }
    in.leave(outer);
    if (parallel == null) {
      throw new UnreadableRecord("StateFormat without a parallel shape");
    }
    try {
      return new StateFormat(modelDigest, implementationDigest, dtype, layout, parallel, groups);
    } catch (IllegalArgumentException e) {
      throw new UnreadableRecord("StateFormat: " + e.getMessage());
    }
  }

  static GroupSpec decodeGroup(WireReader in) {
    int outer = in.enter();
    int groupId = 0;
    StateComponent component = null;
    int pageTokens = 0;
    int rule = 0;
    int windowTokens = 0;
    boolean replicated = false;
    long bytesPerBlock = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> groupId = in.uint32();
        case 2 -> component = EnumCodes.stateComponent(in.uint32());
        case 3 -> pageTokens = in.uint32();
        case 4 -> rule = in.uint32();
        case 5 -> windowTokens = in.uint32();
        case 6 -> replicated = in.bool();
        case 7 -> bytesPerBlock = in.uint();
        default -> throw in.unknownField("GroupSpec");
      }
    }
    in.leave(outer);
    if (component == null) {
      throw new UnreadableRecord("GroupSpec without a component");
    }
    return new GroupSpec(
        groupId, component, pageTokens, rule(rule, windowTokens), replicated, bytesPerBlock);
  }

  private static RecoveryRule rule(int rule, int windowTokens) {
    return switch (rule) {
      case PREFIX -> new RecoveryRule.Prefix();
      case WINDOW -> new RecoveryRule.Window(windowTokens);
      case CHECKPOINT -> new RecoveryRule.Checkpoint();
      default ->
          throw new UnreadableRecord(
              "recovery rule " + rule + " is not known to this version: use a newer orbitkv");
    };
  }

  private static ParallelShape decodeShape(WireReader in) {
    int outer = in.enter();
    int tensorParallel = 0;
    int pipelineParallel = 0;
    int contextParallel = 0;
    int kvHeads = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> tensorParallel = in.uint32();
        case 2 -> pipelineParallel = in.uint32();
        case 3 -> contextParallel = in.uint32();
        case 4 -> kvHeads = in.uint32();
        default -> throw in.unknownField("ParallelShape");
      }
    }
    in.leave(outer);
    try {
      return new ParallelShape(tensorParallel, pipelineParallel, contextParallel, kvHeads);
    } catch (IllegalArgumentException e) {
      throw new UnreadableRecord("ParallelShape: " + e.getMessage());
    }
  }
}
