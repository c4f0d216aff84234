package io.orbitkv.state;

/**
 * How the slices of one group and shard are cut in layers, as the first registration bound it.
 *
 * @param slice the shard, 0 for a replicated group
 * @param layers the model's layer numbers, ascending
 * @param layerBytes bytes of one block in each of them
 */
public record BoundLayers(int namespaceId, int groupId, int slice, Longs layers, Longs layerBytes) {

  long digestPart() {
    long hash = Mix.chain(Mix.chain(namespaceId ^ 0x1A7E4500L, groupId), slice);
    for (int i = 0; i < layers.size(); i++) {
      hash = Mix.chain(Mix.chain(hash, layers.get(i)), layerBytes.get(i));
    }
    return Mix.mix(hash);
  }
}
