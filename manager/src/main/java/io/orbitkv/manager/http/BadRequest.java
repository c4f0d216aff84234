package io.orbitkv.manager.http;

/** Ends the handling of a request with an error of its own. */
final class BadRequest extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient HttpAnswer answer;

  BadRequest(int status, String code, String message, String remedy) {
    super(message);
    this.answer = HttpAnswer.error(status, code, message, remedy);
  }

  HttpAnswer answer() {
    return answer;
  }
}
