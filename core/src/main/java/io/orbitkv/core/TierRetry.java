package io.orbitkv.core;

/** When blocks that the SSD tier could not take are offered to it again. */
final class TierRetry extends Timer {}
