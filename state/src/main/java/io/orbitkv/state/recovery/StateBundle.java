package io.orbitkv.state.recovery;

import io.orbitkv.state.identity.FormatMismatch;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.InvalidField;
import io.orbitkv.state.identity.Limits;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateDescriptor;
import io.orbitkv.state.identity.StateFormat;
import io.orbitkv.state.identity.StateKey;
import io.orbitkv.state.identity.TokenSpan;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Recovery evidence: for each group the pages whose blocks are held under lease.
 *
 * <p>There are two ways in. {@link #hold} checks a block's key and descriptor and is for evidence
 * from elsewhere. {@link #holdPages} marks pages whose blocks the caller itself found by their keys
 * in this namespace, and is for the hot path. Each group is a bitmap of absolute pages that grows
 * on demand and is kept by {@link #clear}, so a reused bundle allocates nothing. It belongs to one
 * thread.
 */
public final class StateBundle implements Evidence {

  private static final long[] NO_WORDS = {};

  private final Namespace namespace;
  private final StateFormat format;
  private final RecoveryContract contract;
  private final long[][] heldPages;

  /**
   * An empty bundle.
   *
   * @throws IllegalArgumentException when the contract was compiled from other groups than the
   *     format's
   */
  public StateBundle(Namespace namespace, StateFormat format, RecoveryContract contract) {
    if (!format.groups().equals(contract.groups())) {
      throw new IllegalArgumentException("contract and format declare different groups");
    }
    this.namespace = namespace;
    this.format = format;
    this.contract = contract;
    this.heldPages = new long[contract.groups().size()][];
    Arrays.fill(heldPages, NO_WORDS);
  }

  /**
   * Counts one leased block.
   *
   * @return why it does not count, in which case nothing changed: another namespace, a group that
   *     is not declared, another component or format, or a span that is not one whole page of the
   *     group
   */
  public Optional<InvalidField> hold(StateKey key, StateDescriptor descriptor) {
    int groupIndex = contract.indexOf(key.group());
    InvalidField problem = check(key, groupIndex, descriptor);
    if (problem == null) {
      holdPages(groupIndex, descriptor.span().start() / contract.pageTokens(groupIndex), 1);
    }
    return Optional.ofNullable(problem);
  }

  /**
   * Counts pages {@code firstPage} to {@code firstPage + pageCount - 1} of a group.
   *
   * @throws IndexOutOfBoundsException when there is no such group, or a page ends after {@value
   *     Limits#MAX_TOKENS} tokens
   */
  public void holdPages(int groupIndex, int firstPage, int pageCount) {
    long endToken = ((long) firstPage + pageCount) * contract.pageTokens(groupIndex);
    if (firstPage < 0 || pageCount < 0 || endToken > Limits.MAX_TOKENS) {
      throw new IndexOutOfBoundsException(
          "pages from " + firstPage + ", count " + pageCount + ", of group index " + groupIndex);
    }
    if (pageCount == 0) {
      return;
    }
    int lastPage = firstPage + pageCount - 1;
    long[] words = heldPages[groupIndex];
    if (lastPage >> 6 >= words.length) {
      words = Arrays.copyOf(words, Math.max((lastPage >> 6) + 1, words.length * 2));
      heldPages[groupIndex] = words;
    }
    long firstMask = -1L << firstPage;
    long lastMask = -1L >>> (63 - (lastPage & 63));
    if (firstPage >> 6 == lastPage >> 6) {
      words[firstPage >> 6] |= firstMask & lastMask;
      return;
    }
    words[firstPage >> 6] |= firstMask;
    Arrays.fill(words, (firstPage >> 6) + 1, lastPage >> 6, -1L);
    words[lastPage >> 6] |= lastMask;
  }

  /** Forgets every page and keeps the memory. */
  public void clear() {
    for (long[] words : heldPages) {
      Arrays.fill(words, 0);
    }
  }

  @Override
  public Namespace namespace() {
    return namespace;
  }

  @Override
  public boolean covers(int groupIndex, int page) {
    long[] words = heldPages[groupIndex];
    int word = page >> 6;
    return word < words.length && (words[word] >>> page & 1) != 0;
  }

  @Override
  public int nextHole(int groupIndex, int fromPage, int endPage) {
    long[] words = heldPages[groupIndex];
    int page = fromPage;
    while (page < endPage && page >> 6 < words.length) {
      long holes = ~words[page >> 6] >>> page;
      if (holes != 0) {
        return Math.min(page + Long.numberOfTrailingZeros(holes), endPage);
      }
      page = (page & -64) + 64;
    }
    return Math.min(page, endPage);
  }

  private @Nullable InvalidField check(StateKey key, int groupIndex, StateDescriptor descriptor) {
    if (!key.namespace().equals(namespace)) {
      return new InvalidField(
          "key.namespace",
          key.namespace().text(),
          "not the bundle's namespace",
          "hold blocks of " + namespace + " only");
    }
    if (groupIndex < 0) {
      return InvalidField.of(
          "key.group", key.group(), "not a declared group", "use a group of the registration");
    }
    GroupSpec group = contract.groups().get(groupIndex);
    if (descriptor.component() != group.component()) {
      return new InvalidField(
          "descriptor.component",
          descriptor.component().name(),
          "group " + group.groupId() + " holds " + group.component(),
          "describe the block as " + group.component());
    }
    Optional<FormatMismatch> mismatch = format.firstDifference(descriptor.format());
    if (mismatch.isPresent()) {
      return new InvalidField(
          "descriptor.format." + mismatch.get().field(),
          mismatch.get().theirs(),
          "the bundle's format has " + mismatch.get().ours(),
          "hold blocks of the same format only");
    }
    TokenSpan span = descriptor.span();
    if (span.tokens() != group.pageTokens() || span.start() % group.pageTokens() != 0) {
      return new InvalidField(
          "descriptor.span",
          span.toString(),
          "not one whole page of group " + group.groupId(),
          "start at a multiple of " + group.pageTokens() + " tokens and span just as many");
    }
    return null;
  }
}
