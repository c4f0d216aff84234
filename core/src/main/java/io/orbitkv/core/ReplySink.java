package io.orbitkv.core;

/**
 * Where the answer to one command goes. Called on the loop thread, exactly once, except that a
 * waiting query is answered {@link Reply.Loading} first. It must neither block nor throw: what it
 * throws stops the loop.
 */
@FunctionalInterface
public interface ReplySink {
  void reply(Reply reply);
}
