package io.orbitkv.client.wire;

/**
 * Which request an answer belongs to: what the Manager keeps of a submission.
 *
 * @param op the operation
 * @param requestId the client's number
 * @param slot its slot, or {@link ChannelLayout#NO_SLOT}
 * @param slotGeneration the slot's generation, 0 without slot
 * @param answers how many completions it may give: 2 where it may wait, else 1
 */
public record RequestTag(Op op, long requestId, int slot, long slotGeneration, int answers) {}
