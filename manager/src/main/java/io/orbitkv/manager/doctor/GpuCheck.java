package io.orbitkv.manager.doctor;

import io.orbitkv.ffi.cuda.Cuda;
import io.orbitkv.ffi.cuda.CudaDriver;
import io.orbitkv.ffi.cuda.MpsStatus;
import io.orbitkv.manager.config.Quantity;
import java.util.ArrayList;
import java.util.List;

/** The host's GPUs, and whether their processes run side by side. */
final class GpuCheck {
  private GpuCheck() {}

  static List<Finding> of(Cuda.Found found) {
    return switch (found) {
      case Cuda.Found.Absent(String reason, String remedy) ->
          List.of(Finding.warn("gpu", reason + "; engines on a GPU are refused", remedy));
      case Cuda.Found.Present(CudaDriver driver) -> {
        List<Finding> findings = new ArrayList<>();
        driver
            .gpus()
            .forEach(
                gpu ->
                    findings.add(
                        Finding.ok(
                            "gpu " + gpu.ordinal(),
                            "%s, %s, %s, CUDA %s"
                                .formatted(
                                    gpu.name(),
                                    Quantity.bytesText(gpu.memoryBytes()),
                                    gpu.uuid(),
                                    driver.version()))));
        findings.add(mps(MpsStatus.read()));
        yield findings;
      }
    };
  }

  /** Nothing of ours needs it: the kernels run in the engine's process. */
  static Finding mps(MpsStatus status) {
    return switch (status) {
      case RUNNING ->
          Finding.ok("mps", "runs; the pages' engine and the Manager must both be its clients");
      case NOT_RUNNING ->
          Finding.ok(
              "mps",
              "does not run: processes take turns on a GPU. Engines that scatter and gather"
                  + " themselves lose nothing by it, as the Manager only copies");
    };
  }
}
