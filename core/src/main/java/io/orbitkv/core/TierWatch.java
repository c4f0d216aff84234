package io.orbitkv.core;

/** When the SSD tier's disk should have ended an operation. */
final class TierWatch extends Timer {}
