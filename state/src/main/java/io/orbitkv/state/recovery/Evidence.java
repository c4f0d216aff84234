package io.orbitkv.state.recovery;

import io.orbitkv.state.identity.Namespace;

/**
 * The pages that one reader holds under lease. It must not change while a contract reads it.
 *
 * <p>A group is named by its index in {@link RecoveryContract#groups()}, a page by its absolute
 * index: page {@code i} holds the tokens from {@code i * pageTokens}.
 */
public interface Evidence {

  /** The namespace of the held blocks; a contract counts no evidence of another namespace. */
  Namespace namespace();

  /** Whether the page is held. */
  boolean covers(int groupIndex, int page);

  /**
   * The first page in {@code [fromPage, endPage)} that is not held; {@code endPage} when all are.
   * Override it where many pages can be passed at once.
   */
  default int nextHole(int groupIndex, int fromPage, int endPage) {
    int page = fromPage;
    while (page < endPage && covers(groupIndex, page)) {
      page++;
    }
    return page;
  }
}
