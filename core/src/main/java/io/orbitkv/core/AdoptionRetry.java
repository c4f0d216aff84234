package io.orbitkv.core;

/** When verifying kept blocks goes on that had to be put off. */
final class AdoptionRetry extends Timer {}
