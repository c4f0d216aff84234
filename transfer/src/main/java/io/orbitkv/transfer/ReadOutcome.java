package io.orbitkv.transfer;

/** How a read ended. */
public sealed interface ReadOutcome permits Receipt, TransferFailure {}
