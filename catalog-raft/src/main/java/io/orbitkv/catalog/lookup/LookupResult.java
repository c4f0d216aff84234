package io.orbitkv.catalog.lookup;

import io.orbitkv.catalog.inventory.Candidate;
import java.util.List;

/**
 * What a lookup found.
 *
 * @param byKey the candidates of each key, in the order asked, DRAM before SSD
 * @param unanswered how many keys no replica answered for in time: they may be somewhere
 */
public record LookupResult(List<List<Candidate>> byKey, int unanswered) {}
