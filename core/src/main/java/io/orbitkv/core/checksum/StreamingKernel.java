package io.orbitkv.core.checksum;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.orbitkv.ffi.MachineCode;
import io.orbitkv.ffi.NativeException;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Copies a chunk and sums its terms in one pass, with stores that go around the caches. A copy of
 * more than the caches hold gains half as much again: its target's lines are not read before they
 * are written, and what others have in the caches stays there. Java has no such stores, so the loop
 * is machine code, of x86-64 with AVX2; elsewhere {@link #AVAILABLE} is false.
 */
final class StreamingKernel {
  /** What it copies at a time: a range is a multiple of this. */
  static final int STEP_BYTES = 64;

  /** What the stores need of the target's address. */
  static final int TARGET_ALIGNMENT_BYTES = 32;

  /**
   * {@code long copyAndSum(source, target, table, key, bytes)}: two times four words in each turn,
   * of which each adds low32(x) * high32(x) + w, where x = w + table + key. Intel syntax.
   */
  private static final String COPY_AND_SUM =
      """
      c4 e1 f9 6e f1          vmovq        xmm6, rcx
      c4 e2 7d 59 f6          vpbroadcastq ymm6, xmm6             key in each lane
      c5 f9 ef c0             vpxor        xmm0, xmm0, xmm0       two sums
      c5 f1 ef c9             vpxor        xmm1, xmm1, xmm1
      0f 18 87 00 02 00 00    prefetchnta  [rdi + 512]            turn:
      c5 fe 6f 17             vmovdqu      ymm2, [rdi]
      c5 fe 6f 5f 20          vmovdqu      ymm3, [rdi + 32]
      c5 fd e7 16             vmovntdq     [rsi], ymm2
      c5 fd e7 5e 20          vmovntdq     [rsi + 32], ymm3
      c5 ed d4 22             vpaddq       ymm4, ymm2, [rdx]
      c5 e5 d4 6a 20          vpaddq       ymm5, ymm3, [rdx + 32]
      c5 dd d4 e6             vpaddq       ymm4, ymm4, ymm6
      c5 d5 d4 ee             vpaddq       ymm5, ymm5, ymm6
      c5 c5 73 d4 20          vpsrlq       ymm7, ymm4, 32
      c5 bd 73 d5 20          vpsrlq       ymm8, ymm5, 32
      c5 dd f4 e7             vpmuludq     ymm4, ymm4, ymm7
      c4 c1 55 f4 e8          vpmuludq     ymm5, ymm5, ymm8
      c5 dd d4 e2             vpaddq       ymm4, ymm4, ymm2
      c5 d5 d4 eb             vpaddq       ymm5, ymm5, ymm3
      c5 fd d4 c4             vpaddq       ymm0, ymm0, ymm4
      c5 f5 d4 cd             vpaddq       ymm1, ymm1, ymm5
      48 83 c7 40             add          rdi, 64
      48 83 c6 40             add          rsi, 64
      48 83 c2 40             add          rdx, 64
      49 83 e8 40             sub          r8, 64
      75 a1                   jnz          turn
      c5 fd d4 c1             vpaddq       ymm0, ymm0, ymm1       the sum over all lanes
      c4 e3 7d 39 c1 01       vextracti128 xmm1, ymm0, 1
      c5 f9 d4 c1             vpaddq       xmm0, xmm0, xmm1
      c5 f1 73 d8 08          vpsrldq      xmm1, xmm0, 8
      c5 f9 d4 c1             vpaddq       xmm0, xmm0, xmm1
      c4 e1 f9 7e c0          vmovq        rax, xmm0
      c5 f8 77                vzeroupper
      c3                      ret
      """;

  /** {@code long fence()}: whoever sees a later store sees those that went around the caches. */
  private static final String FENCE =
      """
      0f ae f8                sfence
      31 c0                   xor          eax, eax
      c3                      ret
      """;

  private static final FunctionDescriptor COPY_AND_SUM_SIGNATURE =
      FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final FunctionDescriptor FENCE_SIGNATURE = FunctionDescriptor.of(JAVA_LONG);

  private record Linked(MethodHandle copyAndSum, MethodHandle fence, String description) {
    static Linked none(String why) {
      return new Linked(
          unavailable(COPY_AND_SUM_SIGNATURE), unavailable(FENCE_SIGNATURE), "none: " + why);
    }

    private static MethodHandle unavailable(FunctionDescriptor signature) {
      MethodType type = signature.toMethodType();
      return MethodHandles.empty(type);
    }
  }

  private static final MemorySegment TABLE = Arena.global().allocate(8L * Checksum.CHUNK_WORDS, 64);
  private static final long TABLE_ADDRESS = TABLE.address();
  private static final Linked LINKED = link();
  private static final MethodHandle COPY_AND_SUM_CODE = LINKED.copyAndSum();
  private static final MethodHandle FENCE_CODE = LINKED.fence();

  /** Whether this host can run it. */
  static final boolean AVAILABLE = !LINKED.description().startsWith("none");

  private StreamingKernel() {}

  /** What it is made of, or why there is none. */
  static String description() {
    return LINKED.description();
  }

  /**
   * Copies words of one chunk.
   *
   * @param source address to read from
   * @param target address to write to, a multiple of {@link #TARGET_ALIGNMENT_BYTES}
   * @param index the first word's place in its chunk
   * @param key the chunk's key
   * @param bytes a multiple of {@link #STEP_BYTES}, above 0, that ends within the chunk
   * @return the sum of the terms
   */
  static long copyAndSum(long source, long target, int index, long key, long bytes) {
    try {
      return (long)
          COPY_AND_SUM_CODE.invokeExact(source, target, TABLE_ADDRESS + 8L * index, key, bytes);
    } catch (Throwable thrown) {
      throw new IllegalStateException("machine code does not throw", thrown);
    }
  }

  /** Orders what was copied before every later store of this thread. */
  static void fence() {
    try {
      long zero = (long) FENCE_CODE.invokeExact();
      if (zero != 0) {
        throw new IllegalStateException("the fence returned " + zero);
      }
    } catch (Throwable thrown) {
      throw new IllegalStateException("machine code does not throw", thrown);
    }
  }

  private static Linked link() {
    MemorySegment.copy(Checksum.TABLE, 0, TABLE, JAVA_LONG, 0, Checksum.CHUNK_WORDS);
    if (!MachineCode.x86Offers("avx2")) {
      return Linked.none("this is no x86-64 processor with AVX2");
    }
    try {
      return new Linked(
          MachineCode.link(assembled(COPY_AND_SUM), COPY_AND_SUM_SIGNATURE),
          MachineCode.link(assembled(FENCE), FENCE_SIGNATURE),
          "AVX2, stores around the caches");
    } catch (NativeException forbidden) {
      return Linked.none("the host allows no new code: " + forbidden.getMessage());
    }
  }

  /** The bytes of a listing: the first column. */
  private static byte[] assembled(String listing) {
    ByteArrayOutputStream code = new ByteArrayOutputStream();
    for (String line : listing.split("\n", -1)) {
      String hex = line.isEmpty() ? "" : line.substring(0, line.indexOf("  "));
      for (int at = 0; at < hex.length(); at += 3) {
        code.write(Integer.parseInt(hex, at, at + 2, 16));
      }
    }
    return code.toByteArray();
  }
}
