package io.orbitkv.manager.endpoint;

import io.orbitkv.client.control.Register;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.core.copy.GroupLayout;
import io.orbitkv.core.copy.SlotBoard;
import io.orbitkv.core.copy.StagedBuffers;
import java.util.Map;

/** What opens an engine's staging ring: the host's GPUs. */
public interface StagedMemory {

  /** Runs what takes its time beside the control thread, one after the other. */
  void execute(Runnable task);

  /**
   * Opens a ring.
   *
   * @param staging checked by itself
   * @param layouts of the registration
   * @param board by which its slots are passed
   * @param release run once, when nothing uses the ring and the board any more
   */
  Decoded<StagedBuffers> open(
      Register.Staging staging,
      Map<Integer, GroupLayout> layouts,
      SlotBoard board,
      Runnable release);
}
