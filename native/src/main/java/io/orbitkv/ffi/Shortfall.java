package io.orbitkv.ffi;

/**
 * Something that was asked of the host and not granted, where going on with less is right. Every
 * part is text for a log line or for {@code doctor}.
 *
 * @param asked what was asked, such as "2 MiB huge pages"
 * @param granted what there is instead
 * @param why the reason, with the errno where a call failed
 * @param remedy what an operator can do
 */
public record Shortfall(String asked, String granted, String why, String remedy) {
  @Override
  public String toString() {
    return asked + ": got " + granted + ", because " + why + "; " + remedy;
  }
}
