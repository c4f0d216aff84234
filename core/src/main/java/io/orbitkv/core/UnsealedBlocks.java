package io.orbitkv.core;

import io.orbitkv.state.LongRanges;

/**
 * Blocks that one publish began and that still lacked a slice of another shard; due when their time
 * is up.
 */
final class UnsealedBlocks extends Timer {
  final LongRanges blocks;

  UnsealedBlocks(LongRanges blocks) {
    this.blocks = blocks;
  }
}
