package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Checks the project's own files: size, unfinished work, nullness marks. */
class TidinessTest {

  private static final int MAX_LINES = 800;
  private static final Set<String> SKIPPED_DIRECTORIES =
      Set.of("target", "node_modules", "__pycache__", ".git", ".orbitkv", ".venv", ".idea");
  private static final Set<String> SOURCE_SUFFIXES = Set.of("java", "py", "proto", "sh", "awk");
  private static final Set<String> TEXT_SUFFIXES =
      Set.of("java", "py", "proto", "sh", "awk", "md", "xml", "json", "toml", "properties", "");

  /** Written so that this file does not match itself. */
  private static final Pattern UNFINISHED = Pattern.compile("\\b(TO" + "DO|FIX" + "ME)\\b");

  private static final Path ROOT =
      Path.of(System.getProperty("basedir", "."), "..").toAbsolutePath().normalize();

  @Test
  void shouldKeepSourceFilesShort() throws IOException {
    List<String> tooLong = new ArrayList<>();
    for (Path file : files(SOURCE_SUFFIXES)) {
      int lines = Files.readAllLines(file).size();
      if (lines > MAX_LINES) {
        tooLong.add(ROOT.relativize(file) + " has " + lines + " lines");
      }
    }
    assertEquals(List.of(), tooLong, "files over " + MAX_LINES + " lines");
  }

  @Test
  void shouldLeaveNoUnfinishedWork() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : files(TEXT_SUFFIXES)) {
      List<String> lines = Files.readAllLines(file);
      for (int i = 0; i < lines.size(); i++) {
        if (UNFINISHED.matcher(lines.get(i)).find()) {
          found.add(ROOT.relativize(file) + ":" + (i + 1));
        }
      }
    }
    assertEquals(List.of(), found, "marks of unfinished work");
  }

  @Test
  void shouldMarkEveryPackageForNullness() throws IOException {
    Set<Path> packages = new TreeSet<>();
    Set<Path> marked = new TreeSet<>();
    for (Path file : files(Set.of("java"))) {
      Path inPackage = packageDirectory(file);
      packages.add(inPackage);
      if (file.endsWith("package-info.java") && Files.readString(file).contains("@NullMarked")) {
        marked.add(inPackage);
      }
    }
    assertTrue(packages.size() > 1, "found no packages under " + ROOT);
    packages.removeAll(marked);
    assertEquals(Set.of(), packages, "packages without @NullMarked in a package-info.java");
  }

  /** The package as a relative path: a test's package is marked by the module's own. */
  private static Path packageDirectory(Path javaFile) {
    Path relative = ROOT.relativize(javaFile);
    for (int i = 0; i < relative.getNameCount(); i++) {
      if (relative.getName(i).toString().equals("java")) {
        return relative.subpath(i + 1, relative.getNameCount() - 1);
      }
    }
    throw new AssertionError(relative + " is not below a java folder");
  }

  private static List<Path> files(Set<String> suffixes) throws IOException {
    List<Path> result = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
            return SKIPPED_DIRECTORIES.contains(String.valueOf(dir.getFileName()))
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            String name = file.getFileName().toString();
            int dot = name.lastIndexOf('.');
            if (suffixes.contains(dot < 0 ? "" : name.substring(dot + 1))) {
              result.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return result;
  }
}
