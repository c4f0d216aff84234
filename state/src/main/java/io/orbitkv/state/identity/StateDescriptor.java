package io.orbitkv.state.identity;

/**
 * What a block claims to hold: the evidence that a restore checks before it counts the block.
 *
 * @param span the token positions whose state the block holds
 * @param component the kind of state
 * @param format the format its bytes were written in
 */
public record StateDescriptor(TokenSpan span, StateComponent component, StateFormat format) {}
