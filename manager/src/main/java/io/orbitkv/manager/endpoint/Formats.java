package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.identity.Checked;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.InvalidField;
import io.orbitkv.state.identity.ParallelShape;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.StateComponent;
import io.orbitkv.state.identity.StateFormat;
import java.util.ArrayList;
import java.util.List;

/** A registration's words for what bytes mean, as the state's types. */
final class Formats {
  private Formats() {}

  static Decoded<StateFormat> format(Register.Format format, List<Register.Group> groups) {
    List<GroupSpec> specs = new ArrayList<>();
    for (Register.Group group : groups) {
      specs.add(
          new GroupSpec(
              group.groupId(),
              component(group.component()),
              group.pageTokens(),
              rule(group),
              group.replicated(),
              group.bytesPerBlock()));
    }
    Register.Parallel parallel = format.parallel();
    Checked<StateFormat> checked =
        ParallelShape.of(
                parallel.tensorParallel(),
                parallel.pipelineParallel(),
                parallel.contextParallel(),
                parallel.kvHeads())
            .then(
                shape ->
                    StateFormat.of(
                        format.modelDigest(),
                        format.implementationDigest(),
                        format.dtype(),
                        format.layout(),
                        shape,
                        specs));
    return switch (checked) {
      case Checked.Valid<StateFormat>(StateFormat value) -> Decoded.good(value);
      case Checked.Invalid<StateFormat>(InvalidField problem) ->
          Decoded.bad(
              RefusalCode.BAD_VALUE, problem.field(), problem.problem() + "; " + problem.remedy());
    };
  }

  static SessionRole role(Register.Role role) {
    return switch (role) {
      case LOAD -> SessionRole.LOAD;
      case SAVE -> SessionRole.SAVE;
      case QUERY -> SessionRole.QUERY;
    };
  }

  static Register.Role role(SessionRole role) {
    return switch (role) {
      case LOAD -> Register.Role.LOAD;
      case SAVE -> Register.Role.SAVE;
      case QUERY -> Register.Role.QUERY;
    };
  }

  private static RecoveryRule rule(Register.Group group) {
    return switch (group.rule()) {
      case PREFIX -> new RecoveryRule.Prefix();
      case WINDOW -> {
        Integer tokens = group.windowTokens();
        yield new RecoveryRule.Window(tokens == null ? 0 : tokens);
      }
      case CHECKPOINT -> new RecoveryRule.Checkpoint();
    };
  }

  private static StateComponent component(Register.Component component) {
    return switch (component) {
      case ATTENTION_KV -> StateComponent.ATTENTION_KV;
      case MLA -> StateComponent.MLA;
      case RECURRENT -> StateComponent.RECURRENT;
      case CONVOLUTION -> StateComponent.CONVOLUTION;
      case SWA -> StateComponent.SWA;
      case DRAFT -> StateComponent.DRAFT;
      case INDEXER -> StateComponent.INDEXER;
    };
  }
}
