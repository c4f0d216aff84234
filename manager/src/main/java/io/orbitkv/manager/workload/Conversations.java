package io.orbitkv.manager.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Makes up a trace of multi-turn conversations: people return to a conversation with all of it as
 * input, a new question behind it. About 12,000 input tokens a request in blocks of 512; 36 % of
 * the blocks were input before. The same seed gives the same trace.
 */
public final class Conversations {
  /** No request has more blocks: people give up on a conversation that grows so long. */
  public static final int MAX_BLOCKS = 256;

  private static final int BLOCK_TOKENS = Trace.MOONCAKE_BLOCK_TOKENS;
  private static final int LONGEST_TURN_BLOCKS = 48;
  private static final int SYSTEM_PROMPTS = 4;
  private static final int OPEN_CONVERSATIONS = 48;

  private final SplittableRandom random;
  private final List<Conversation> open = new ArrayList<>();
  private final long[][] systemPrompts = new long[SYSTEM_PROMPTS][];
  private long nextBlock;
  private long nowMillis;

  private Conversations(long seed) {
    random = new SplittableRandom(seed);
    for (int i = 0; i < SYSTEM_PROMPTS; i++) {
      systemPrompts[i] = new long[1 + random.nextInt(2)];
      for (int b = 0; b < systemPrompts[i].length; b++) {
        systemPrompts[i][b] = nextBlock++;
      }
    }
  }

  /** What was said so far: its whole blocks, and tokens behind them. */
  private static final class Conversation {
    final List<Long> blocks = new ArrayList<>();
    int restTokens;

    void add(int tokens, Conversations world) {
      restTokens += tokens;
      while (restTokens >= BLOCK_TOKENS) {
        blocks.add(world.nextBlock++);
        restTokens -= BLOCK_TOKENS;
      }
    }
  }

  /** A trace of so many requests. */
  public static Trace trace(long seed, int requests) {
    Conversations world = new Conversations(seed);
    List<TraceRequest> trace = new ArrayList<>(requests);
    for (int i = 0; i < requests; i++) {
      trace.add(world.next());
    }
    return new Trace(trace, BLOCK_TOKENS);
  }

  private TraceRequest next() {
    nowMillis += (long) exponential(300);
    Conversation conversation;
    if (open.isEmpty() || random.nextDouble() < 0.68) {
      conversation = new Conversation();
      for (long block : systemPrompts[random.nextInt(SYSTEM_PROMPTS)]) {
        conversation.blocks.add(block);
      }
      conversation.add(400 + (int) Math.min(exponential(8_500), 60_000), this);
      if (open.size() == OPEN_CONVERSATIONS) {
        open.remove(random.nextInt(open.size()));
      }
      open.add(conversation);
    } else {
      conversation = open.get(random.nextInt(open.size()));
      conversation.add(200 + (int) Math.min(exponential(3_800), 20_000), this);
    }
    int outputTokens = 30 + (int) Math.min(exponential(320), 4_000);
    TraceRequest request = request(conversation, outputTokens);
    conversation.add(outputTokens, this);
    if (conversation.blocks.size() > MAX_BLOCKS - LONGEST_TURN_BLOCKS) {
      open.remove(conversation);
    }
    return request;
  }

  private TraceRequest request(Conversation conversation, int outputTokens) {
    int whole = conversation.blocks.size();
    boolean rest = conversation.restTokens > 0;
    long[] blocks = new long[whole + (rest ? 1 : 0)];
    for (int i = 0; i < whole; i++) {
      blocks[i] = conversation.blocks.get(i);
    }
    if (rest) {
      blocks[whole] = nextBlock++;
    }
    return new TraceRequest(
        nowMillis, whole * BLOCK_TOKENS + conversation.restTokens, outputTokens, blocks);
  }

  private double exponential(double mean) {
    return -mean * StrictMath.log(1 - random.nextDouble());
  }
}
