package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;

class MachineCodeTest {
  /** {@code lea rax, [rdi + rsi]; ret}. */
  private static final byte[] ADD = {0x48, (byte) 0x8d, 0x04, 0x37, (byte) 0xc3};

  @Test
  void shouldCallInstructions() throws Throwable {
    assumeTrue(Abi.CURRENT == Abi.X86_64, "instructions of x86-64");
    MethodHandle add =
        MachineCode.link(ADD, FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    assertEquals(42L, (long) add.invokeExact(40L, 2L));
    assertEquals(-1L, (long) add.invokeExact(Long.MAX_VALUE, Long.MIN_VALUE));
  }

  @Test
  void shouldNotOfferWhatNoProcessorHas() {
    assertFalse(MachineCode.x86Offers("avx4096"));
  }
}
