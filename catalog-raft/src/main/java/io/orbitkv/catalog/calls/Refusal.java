package io.orbitkv.catalog.calls;

import io.orbitkv.state.HostEvent.RefusalCategory;

/**
 * Why something was not done, and what helps.
 *
 * @param category whose matter it is
 * @param reason what was wrong
 * @param remedy what to do
 */
public record Refusal(RefusalCategory category, String reason, String remedy) {

  /** {@code CATEGORY: reason; remedy}. */
  @Override
  public String toString() {
    return category + ": " + reason + "; " + remedy;
  }
}
