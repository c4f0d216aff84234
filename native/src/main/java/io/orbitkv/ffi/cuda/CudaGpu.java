package io.orbitkv.ffi.cuda;

/**
 * A GPU of this host, as the driver lists it.
 *
 * @param ordinal the driver's number in this process
 * @param uuid as {@code nvidia-smi -L} prints it: {@code GPU-} and 32 hexadecimal digits in groups
 * @param name the model
 * @param memoryBytes its memory
 * @param multiprocessors how many blocks of threads run at the same time at least
 */
public record CudaGpu(
    int ordinal, String uuid, String name, long memoryBytes, int multiprocessors) {

  /** The text of 16 bytes. */
  public static String uuidText(byte[] bytes) {
    StringBuilder text = new StringBuilder("GPU-");
    for (int i = 0; i < 16; i++) {
      if (i == 4 || i == 6 || i == 8 || i == 10) {
        text.append('-');
      }
      text.append("%02x".formatted(bytes[i] & 0xff));
    }
    return text.toString();
  }
}
