package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Health;
import io.orbitkv.core.Inspection;

/** Makes the answer to HEALTH of what the loop says; called on the loop thread. */
@FunctionalInterface
public interface HealthReport {
  Health of(Inspection.StatusAnswer status);
}
