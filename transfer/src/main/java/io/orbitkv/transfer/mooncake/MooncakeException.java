package io.orbitkv.transfer.mooncake;

/** A call of the library that did not succeed, with the library's own number. */
public final class MooncakeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  MooncakeException(String call, long code) {
    super(call + " failed: " + meaning(code));
  }

  /** In words. Submit, status and free return positive numbers, all other calls negative ones. */
  static String meaning(long code) {
    return switch ((int) code) {
      case 1 -> "1 (invalid argument)";
      case 2 -> "2 (over the batch's capacity)";
      case 4 -> "4 (the batch is busy)";
      case 8 -> "8 (not supported)";
      case 102 -> "102 (socket)";
      case 200 -> "200 (metadata)";
      case -1 -> "-1 (invalid argument)";
      case -7 -> "-7 (overlaps memory that is registered)";
      default -> Long.toString(code);
    };
  }
}
