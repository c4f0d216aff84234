package io.orbitkv.manager.doctor;

import io.orbitkv.core.ssd.device.OpenSsdDevice;
import io.orbitkv.core.ssd.device.SsdBackend;
import io.orbitkv.core.ssd.device.SsdDevice;
import io.orbitkv.core.ssd.device.SsdDevices;
import io.orbitkv.core.ssd.device.SsdFileSpec;
import io.orbitkv.core.ssd.device.SsdFiles;
import io.orbitkv.core.ssd.device.SsdOpening;
import io.orbitkv.core.ssd.device.SsdRefusal;
import io.orbitkv.ffi.FileSystemSpace;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.Shortfall;
import io.orbitkv.manager.config.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Tries what an SSD tier needs of a disk, in a small file that it makes beside the tier's own and
 * deletes again.
 */
final class SsdCheck {
  private static final long FILE_BYTES = 1 << 20;
  private static final int PAGE = SsdDevice.ALIGNMENT_BYTES;
  private static final long WAIT_NANOS = 5_000_000_000L;

  private SsdCheck() {}

  static Finding of(Path path) {
    String name = "ssd " + path;
    Path absolute = path.toAbsolutePath();
    Path folder = Files.isDirectory(absolute) ? absolute : absolute.getParent();
    try {
      if (folder == null || !Files.isDirectory(folder)) {
        return Finding.fail(name, folder + " is not a folder", "make it");
      }
      Path scratch = Files.createTempFile(folder, "orbitkv-doctor", ".ssd");
      try {
        return of(name, folder, scratch);
      } finally {
        Files.delete(scratch);
      }
    } catch (IOException failed) {
      return Finding.fail(
          name, String.valueOf(failed.getMessage()), "name a folder that can be written");
    }
  }

  private static Finding of(String name, Path folder, Path scratch) throws IOException {
    SsdFileSpec spec = new SsdFileSpec(scratch, FILE_BYTES);
    return switch (SsdFiles.open(List.of(spec), UUID.randomUUID())) {
      case SsdOpening.Refused<SsdFiles>(SsdRefusal refusal) ->
          Finding.fail(name, refusal.message(), refusal.remedy());
      case SsdOpening.Opened<SsdFiles>(SsdFiles files) -> {
        try (files;
            Mapping memory = Mapping.anonymous(2L * PAGE, MapOptions.READ_WRITE)) {
          yield of(name, folder, files, memory);
        }
      }
    };
  }

  private static Finding of(String name, Path folder, SsdFiles files, Mapping memory)
      throws IOException {
    return switch (SsdDevices.open(SsdBackend.AUTO, files, memory.segment(), 1)) {
      case SsdOpening.Refused<OpenSsdDevice>(SsdRefusal refusal) ->
          Finding.fail(name, refusal.message(), refusal.remedy());
      case SsdOpening.Opened<OpenSsdDevice>(OpenSsdDevice opened) -> {
        try (SsdDevice device = opened.device()) {
          Optional<String> failure = failure(device, memory);
          if (failure.isPresent()) {
            yield Finding.fail(name, failure.get(), "look at the disk");
          }
        }
        String detail =
            "%s: %s; %s free"
                .formatted(
                    opened.chosen(),
                    opened.reason(),
                    Quantity.bytesText(FileSystemSpace.ofPath(folder.toString()).freeBytes()));
        yield opened.shortfalls().stream()
            .findFirst()
            .map(shortfall -> Finding.warn(name, detail, remedy(shortfall)))
            .orElse(Finding.ok(name, detail));
      }
    };
  }

  private static String remedy(Shortfall shortfall) {
    return "%s: %s; %s".formatted(shortfall.asked(), shortfall.why(), shortfall.remedy());
  }

  /** Writes a page and reads it back; what went wrong, if anything did. */
  private static Optional<String> failure(SsdDevice device, Mapping memory) {
    memory.segment().asSlice(0, PAGE).fill((byte) 0x5a);
    device.write(0, SsdFiles.FIRST_OFFSET, 0, PAGE, 0);
    int written = result(device);
    device.read(0, SsdFiles.FIRST_OFFSET, PAGE, PAGE, 0);
    int read = result(device);
    boolean same =
        memory.segment().asSlice(0, PAGE).mismatch(memory.segment().asSlice(PAGE, PAGE)) < 0;
    return written == PAGE && read == PAGE && same
        ? Optional.empty()
        : Optional.of("a page written (%d) was read back (%d) different".formatted(written, read));
  }

  private static int result(SsdDevice device) {
    int[] result = new int[1];
    long deadline = System.nanoTime() + WAIT_NANOS;
    do {
      device.await(deadline - System.nanoTime());
    } while (device.poll((_, value) -> result[0] = value) == 0 && System.nanoTime() < deadline);
    return result[0];
  }
}
