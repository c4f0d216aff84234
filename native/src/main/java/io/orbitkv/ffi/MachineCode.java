package io.orbitkv.ffi;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Instructions that the Java compiler has no words for, in a page that can be executed and no
 * longer written. The JVM makes its own code the same way, so this works wherever a JVM does,
 * unless a policy of the host forbids it.
 */
public final class MachineCode {
  private MachineCode() {}

  /**
   * Whether this process runs on x86-64 and all its processors have a feature, say {@code avx2}.
   */
  public static boolean x86Offers(String feature) {
    if (Abi.CURRENT != Abi.X86_64) {
      return false;
    }
    try {
      return CpuFacts.read().features().contains(feature);
    } catch (IOException noProc) {
      return false;
    }
  }

  /**
   * Makes a function of some instructions; it stays for the life of the process.
   *
   * <p>A call costs some nanoseconds and no collection goes on meanwhile, so it must be over within
   * microseconds. Unlike an access by Java, one that faults ends the process.
   *
   * @param code position-independent instructions that follow the calling convention of C
   * @param signature what they take and give
   * @throws NativeException ENOMEM, or EACCES where the host forbids new code
   */
  public static MethodHandle link(byte[] code, FunctionDescriptor signature)
      throws NativeException {
    long bytes = Math.ceilDiv((long) code.length, PageSize.BYTES) * PageSize.BYTES;
    long address =
        NativeException.check(
            "mmap",
            MemoryCalls.mmap(
                bytes,
                MemoryCalls.PROT_READ | MemoryCalls.PROT_WRITE,
                MemoryCalls.MAP_PRIVATE | MemoryCalls.MAP_ANONYMOUS,
                -1,
                0),
            bytes + " bytes for code");
    MemorySegment page = MemorySegment.ofAddress(address).reinterpret(bytes);
    page.copyFrom(MemorySegment.ofArray(code));
    int result =
        MemoryCalls.mprotect(address, bytes, MemoryCalls.PROT_READ | MemoryCalls.PROT_EXEC);
    if (result < 0) {
      MemoryCalls.munmap(address, bytes);
      throw new NativeException("mprotect", Errno.of(-result), "code of " + code.length + " bytes");
    }
    return Linker.nativeLinker().downcallHandle(page, signature, Linker.Option.critical(false));
  }
}
