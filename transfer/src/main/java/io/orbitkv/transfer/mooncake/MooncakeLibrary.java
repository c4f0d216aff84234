package io.orbitkv.transfer.mooncake;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.orbitkv.ffi.Probe;
import io.orbitkv.ffi.SharedLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The C API of libtransfer_engine, as of v0.3.0: the calls that we need, each of them linked once.
 * A library stays loaded for as long as the process lives, as its threads may.
 */
public final class MooncakeLibrary {
  static final String FILE_NAME = "libtransfer_engine.so";
  private static final String REMEDY =
      "build Mooncake with -DBUILD_SHARED_LIBS=ON and give --mooncake-lib its "
          + FILE_NAME
          + "; the built-in engine works without it";
  private static final String PYTHON_REMEDY =
      "this library was built with Python inside: start the Manager with LD_PRELOAD=libpython3.X.so"
          + " of the Python that it was built for, or build it with -DWITH_STORE=OFF";
  private static final Linker LINKER = Linker.nativeLinker();

  final MethodHandle create;
  final MethodHandle destroy;
  final MethodHandle install;
  final MethodHandle localName;
  final MethodHandle register;
  final MethodHandle openSegment;
  final MethodHandle allocateBatch;
  final MethodHandle submit;
  final MethodHandle status;
  final MethodHandle freeBatch;
  private final String path;

  private MooncakeLibrary(String path, SymbolLookup library) {
    this.path = path;
    create =
        link(
            library,
            "createTransferEngine",
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT);
    destroy =
        LINKER.downcallHandle(
            library.findOrThrow("destroyTransferEngine"), FunctionDescriptor.ofVoid(ADDRESS));
    install = link(library, "installTransport", ADDRESS, ADDRESS, ADDRESS, ADDRESS);
    localName = link(library, "getLocalIpAndPort", JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG);
    register =
        link(
            library,
            "registerLocalMemory",
            JAVA_INT,
            ADDRESS,
            ADDRESS,
            JAVA_LONG,
            ADDRESS,
            JAVA_INT);
    openSegment = link(library, "openSegment", JAVA_INT, ADDRESS, ADDRESS);
    allocateBatch = link(library, "allocateBatchID", JAVA_LONG, ADDRESS, JAVA_LONG);
    submit = link(library, "submitTransfer", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
    status = link(library, "getTransferStatus", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS);
    freeBatch = link(library, "freeBatchID", JAVA_INT, ADDRESS, JAVA_LONG);
  }

  /**
   * Loads a library.
   *
   * @throws IllegalArgumentException if it cannot be loaded, with what to do about it
   */
  public static MooncakeLibrary load(Path file) {
    Probe probe = probe(file);
    if (!probe.present()) {
      throw new IllegalArgumentException(probe.detail() + "; " + probe.remedy());
    }
    return new MooncakeLibrary(
        file.toString(), SymbolLookup.libraryLookup(file.toString(), Arena.global()));
  }

  /** Whether a file can be loaded, for {@code doctor}. */
  public static Probe probe(Path file) {
    Probe probe = SharedLibrary.probe(file.toString(), "createTransferEngine", REMEDY);
    return !probe.present() && probe.detail().contains("Py")
        ? new Probe(false, probe.detail(), PYTHON_REMEDY)
        : probe;
  }

  /** The first library that can be loaded, or why there is none, for {@code doctor}. */
  public static Probe discover(Map<String, String> environment) {
    List<Path> files = candidates(environment);
    for (Path each : files) {
      Probe probe = probe(each);
      if (probe.present()) {
        return probe;
      }
    }
    return files.isEmpty()
        ? new Probe(false, "no " + FILE_NAME + " in the usual places", REMEDY)
        : probe(files.getFirst());
  }

  /** Files of the library's name where users put it: library paths, and Python's packages. */
  static List<Path> candidates(Map<String, String> environment) {
    List<Path> folders = new ArrayList<>();
    for (String each : environment.getOrDefault("LD_LIBRARY_PATH", "").split(":", -1)) {
      if (!each.isEmpty()) {
        folders.add(Path.of(each));
      }
    }
    folders.add(Path.of("/usr/local/lib"));
    folders.add(Path.of("/usr/lib/x86_64-linux-gnu"));
    folders.add(Path.of("/usr/lib/python3/dist-packages/mooncake"));
    List<Path> roots = new ArrayList<>(List.of(Path.of("/usr/local/lib")));
    String virtual = environment.get("VIRTUAL_ENV");
    if (virtual != null) {
      roots.add(Path.of(virtual, "lib"));
    }
    String home = environment.get("HOME");
    if (home != null) {
      roots.add(Path.of(home, ".local", "lib"));
    }
    for (Path root : roots) {
      folders.addAll(wheels(root));
    }
    return folders.stream().map(each -> each.resolve(FILE_NAME)).filter(Files::exists).toList();
  }

  private static List<Path> wheels(Path root) {
    List<Path> result = new ArrayList<>();
    if (Files.isDirectory(root)) {
      try (DirectoryStream<Path> pythons = Files.newDirectoryStream(root, "python3*")) {
        for (Path each : pythons) {
          result.add(each.resolve("site-packages").resolve("mooncake"));
          result.add(each.resolve("dist-packages").resolve("mooncake"));
        }
      } catch (IOException unreadable) {
        return List.of();
      }
    }
    return result;
  }

  /** Sets variables that the library reads with getenv: before the first engine is made. */
  static void setEnvironment(Map<String, String> variables) {
    MethodHandle setenv =
        link(LINKER.defaultLookup(), "setenv", JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
    try (Arena arena = Arena.ofConfined()) {
      for (Map.Entry<String, String> each : variables.entrySet()) {
        int rc =
            (int)
                setenv.invokeExact(
                    arena.allocateFrom(each.getKey()), arena.allocateFrom(each.getValue()), 1);
        if (rc != 0) {
          throw new IllegalArgumentException("no variable: " + each.getKey());
        }
      }
    } catch (Throwable thrown) {
      throw failure(thrown);
    }
  }

  static RuntimeException failure(Throwable thrown) {
    return switch (thrown) {
      case RuntimeException unchecked -> unchecked;
      case Error error -> throw error;
      default -> new IllegalStateException("cannot call the library", thrown);
    };
  }

  String path() {
    return path;
  }

  static MemorySegment nullPointer() {
    return MemorySegment.NULL;
  }

  private static MethodHandle link(
      SymbolLookup library, String name, MemoryLayout returned, MemoryLayout... arguments) {
    return LINKER.downcallHandle(
        library.findOrThrow(name), FunctionDescriptor.of(returned, arguments));
  }
}
