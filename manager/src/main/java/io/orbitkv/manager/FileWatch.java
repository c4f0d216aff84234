package io.orbitkv.manager;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Whether files that the daemon has open still have their names. What is written to one that was
 * deleted goes nowhere that anybody will look, and nothing fails meanwhile.
 */
final class FileWatch {
  private record Watched(String what, Path path, @Nullable Object key, String meaning) {}

  private final List<Watched> watched = new CopyOnWriteArrayList<>();

  /**
   * Looks after a file that is there now.
   *
   * @param what part of the daemon it belongs to
   * @param meaning what it means that it is gone
   */
  void watch(String what, Path path, String meaning) {
    watched.add(new Watched(what, path, keyOf(path), meaning));
  }

  /** Which are gone, for people. */
  List<String> problems() {
    return watched.stream()
        .filter(file -> !Objects.equals(file.key(), keyOf(file.path())))
        .map(
            file ->
                "%s: %s was %s: %s; restart the Manager"
                    .formatted(
                        file.what(),
                        file.path(),
                        keyOf(file.path()) == null ? "deleted" : "replaced",
                        file.meaning()))
        .toList();
  }

  /** What tells one file from another of the same name; null where there is none. */
  private static @Nullable Object keyOf(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
          .fileKey();
    } catch (IOException gone) {
      return null;
    }
  }
}
