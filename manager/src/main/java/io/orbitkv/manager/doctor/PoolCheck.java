package io.orbitkv.manager.doctor;

import io.orbitkv.core.pool.PoolFile;
import io.orbitkv.ffi.FileSystemSpace;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.manager.config.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Looks whether a pool can be kept in a file, without making it. */
final class PoolCheck {
  private PoolCheck() {}

  static Finding of(Path path, long poolBytes) {
    String name = "pool " + path;
    Path absolute = path.toAbsolutePath();
    Path file = Files.isDirectory(absolute) ? absolute.resolve(PoolFile.NAME) : absolute;
    Path folder = file.getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      return Finding.fail(name, folder + " is not a folder", "make it");
    }
    try {
      FileSystemSpace space = FileSystemSpace.ofPath(folder.toString());
      if (!space.isMemory()) {
        return Finding.fail(
            name,
            "on a disk: a pool there would be written back all the time",
            "name a file on tmpfs, such as /dev/shm/" + PoolFile.NAME + ", or on hugetlbfs");
      }
      long had = Files.exists(file) ? Files.size(file) : 0;
      String detail =
          "%s, %s free%s"
              .formatted(
                  space.isHugeTlb() ? "hugetlbfs" : "tmpfs",
                  Quantity.bytesText(space.freeBytes()),
                  had == 0 ? "" : ", a file of %s is there".formatted(Quantity.bytesText(had)));
      return space.freeBytes() + had > poolBytes
          ? Finding.ok(name, detail)
          : Finding.fail(
              name,
              detail,
              "the pool takes %s: choose a smaller --pool-size, or mount it with more"
                  .formatted(Quantity.bytesText(poolBytes)));
    } catch (NativeException unknown) {
      return Finding.fail(name, String.valueOf(unknown.getMessage()), "name another file");
    } catch (IOException unreadable) {
      return Finding.fail(name, unreadable.toString(), "name a file that can be read");
    }
  }
}
