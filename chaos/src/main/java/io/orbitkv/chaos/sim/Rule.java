package io.orbitkv.chaos.sim;

/** What a simulation holds against the Manager; each is told apart so that shrinking keeps it. */
public enum Rule {
  PAGE_CONTENT("a restored page is what was published under its key in its namespace"),
  STALE_CONTENT("a lease reads no bytes that were replaced or dropped before it was granted"),
  LEASE_KEYS("a lease holds the blocks of the keys that were asked for"),
  BOUNDARY("a query finds what is sealed, no more and no less"),
  SEALED("nothing is found before every shard has published its slice"),
  LEASE_HELD("what is leased can be restored until the lease ends"),
  STALE_HANDLE("a session or lease that has ended is refused"),
  TOLD_BEFORE_FACT("nobody is told of anything before its fact is in the journal"),
  REFUSAL_CHANGES("a refusal changes nothing"),
  ANSWERED_ONCE("every request is answered, once"),
  FAILED_WITHOUT_FAULT("nothing fails or is cancelled unless something was broken or cancelled"),
  SSD_WRITTEN("a block is on SSD in the journal only when all of it was written"),
  SSD_REUSED("the disk writes over nothing that the journal has there or that is being read"),
  SSD_GENERATION("no two lives of an extent on SSD have the same generation"),
  RESTART("after a restart is on SSD what the journal said before it, no more and no less"),
  SSD_REPORTED("a disk that hangs is reported"),
  PROMPT("who needs no disk is answered at once and nobody waits past his time"),
  FREED_MEMORY("neither a copy nor the disk touches an extent of the pool that has been freed"),
  UNMAPPED_PAGES("no copy touches pages that were given back"),
  JOURNAL_FULL("nothing begins while the journal has no room"),
  FOLD("the live state is the fold of the journal, also after the codec"),
  INVARIANT("every invariant of the state and of the pool's books holds"),
  RESTS("the loop comes to rest"),
  DRAINS("budgets, leases, tickets and extents return to zero");

  private final String text;

  Rule(String text) {
    this.text = text;
  }

  /** The rule as a sentence. */
  public String text() {
    return text;
  }
}
