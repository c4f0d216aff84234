package io.orbitkv.catalog.inventory;

/** A stream to a replica that an {@link InventoryDialer} opened. Calls never wait. */
public interface InventoryLink {
  /** Sends a frame; the caller keeps to the window. */
  void send(InventoryFrame frame);

  /** Ends the stream; no reply is delivered to its listener after the one under way. */
  void close();

  /** What comes back, one call at a time, from any thread. */
  interface Listener {
    /** The replica answered. */
    void reply(InventoryReply reply);

    /** The stream ended, with the reason; nothing follows. */
    void closed(String reason);
  }
}
