package io.orbitkv.chaos.sim;

import java.util.ArrayList;
import java.util.List;

/** One instance of a model: its engines share what they lease. */
final class Deployment {
  final String instance;
  final ModelPlan model;

  /** The prompt that was stored last. */
  int lastPrompt;

  /** Every session that was ever opened for it, oldest first. */
  final List<SimSession> sessions = new ArrayList<>();

  /** Every lease that it was told of, oldest first. */
  final List<LeaseView> leases = new ArrayList<>();

  /** When the loop last took a cleanup of it. */
  long cleaned;

  Deployment(String instance, ModelPlan model) {
    this.instance = instance;
    this.model = model;
  }
}
