package io.orbitkv.core;

/** A registration that waits until its predecessor has drained or its instance is cleaned up. */
final class WaitingRegistration extends Timer {
  final Command.Register command;

  WaitingRegistration(Command.Register command) {
    this.command = command;
  }
}
