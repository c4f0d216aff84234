package io.orbitkv.core.copy;

/**
 * Where one layer's bytes of every block lie in one of an engine's buffers.
 *
 * <p>Segment {@code j} of block {@code b} lies at {@code baseOffset + b * blockStride + j *
 * segmentStride} and is {@code segmentBytes} long. One segment describes a block that lies in one
 * piece; two describe a layer that keeps keys and values apart; one per head describes head-major
 * layouts.
 *
 * @param groupId the group of state the layer belongs to
 * @param layer the engine's number of the layer, unique in the registration
 * @param buffer index of the buffer in the registration
 * @param baseOffset bytes from the start of the buffer
 * @param blockCount how many blocks the engine holds
 * @param blockStride bytes between neighbouring blocks
 * @param segmentCount segments of one block, at least 1
 * @param segmentStride bytes between neighbouring segments of a block
 * @param segmentBytes bytes of one segment, at least 1
 */
public record LayerLayout(
    int groupId,
    int layer,
    int buffer,
    long baseOffset,
    int blockCount,
    long blockStride,
    int segmentCount,
    long segmentStride,
    int segmentBytes) {

  /** Bytes of one block in this layer. */
  public long blockBytes() {
    return (long) segmentCount * segmentBytes;
  }

  long segmentOffset(int block, int segment) {
    return baseOffset + block * blockStride + segment * segmentStride;
  }
}
