package io.orbitkv.chaos.crash;

/**
 * What load clients ask for.
 *
 * @param conversations how many different prefixes there are
 * @param ticketMillis how long a query waits for blocks on their way, 0 if it does not wait
 * @param pauseMillis between two requests of a client
 */
public record LoadMix(int conversations, int ticketMillis, int pauseMillis) {
  /** Blocks of the longest prefix. */
  public static final int PREFIX_BLOCKS = 16;

  private static final long CONVERSATION_STRIDE = 1_000;

  /** Little enough for memory, as fast as it goes. */
  public static final LoadMix MEMORY = new LoadMix(24, 0, 0);

  /** The first block of a conversation; the others follow. */
  public long firstBlock(int conversation) {
    return conversation * CONVERSATION_STRIDE;
  }
}
