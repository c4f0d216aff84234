package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;

/**
 * The number of each fact on disk. A number is never given to another fact; a retired fact keeps
 * its number. Numbers leave room between groups so that related facts stay together.
 */
final class FactType {
  /** Not a fact: the first record of every part. */
  static final int PART_OPENED = 1;

  static final int EPOCH_STARTED = 16;
  static final int EPOCH_ENDED = 17;
  static final int NAMESPACE_BOUND = 18;
  static final int NAMESPACE_UNBOUND = 19;
  static final int INSTANCE_REGISTERED = 20;
  static final int INSTANCE_CLEANED = 21;
  static final int SESSION_OPENED = 22;
  static final int SESSION_CLOSED = 23;

  static final int SLICES_RESERVED = 32;
  static final int SLICES_PUBLISHED = 33;
  static final int PUBLISH_ABORTED = 34;
  static final int BLOCKS_EVICTED = 35;

  static final int LEASE_GRANTED = 48;
  static final int LEASE_RELEASED = 49;
  static final int TICKET_OPENED = 50;
  static final int TICKET_CLOSED = 51;
  static final int RESTORE_STARTED = 52;
  static final int RESTORE_FINISHED = 53;

  static final int QUERY_MISSED = 64;
  static final int REQUEST_REFUSED = 65;
  static final int REGISTRATION_REFUSED = 66;
  static final int VERIFY_FAILED = 67;
  static final int DIGEST_RECORDED = 68;

  static final int SSD_TIER_OPENED = 80;
  static final int LAYERS_BOUND = 81;
  static final int SSD_WRITTEN = 82;
  static final int SSD_EVICTED = 83;
  static final int BLOCKS_DEMOTED = 84;
  static final int BLOCKS_LOADING = 85;
  static final int BLOCKS_LOADED = 86;
  static final int LOAD_FAILED = 87;
  static final int TIER_DEGRADED = 88;
  static final int TIER_RECOVERED = 89;
  static final int SSD_SKIPPED = 90;

  static final int POOL_OPENED = 96;
  static final int BLOCKS_KEPT = 97;
  static final int BLOCKS_ADOPTED = 98;
  static final int BLOCKS_NOT_ADOPTED = 99;

  static final int GRANT_OPENED = 112;
  static final int GRANT_CLOSED = 113;
  static final int REMOTE_READ_BEGUN = 114;
  static final int REMOTE_READ_QUARANTINED = 115;
  static final int REMOTE_READ_ENDED = 116;
  static final int PLACEMENT_SEEN = 117;

  private FactType() {}

  static int of(HostEvent event) {
    return switch (event) {
      case HostEvent.EpochStarted _ -> EPOCH_STARTED;
      case HostEvent.EpochEnded _ -> EPOCH_ENDED;
      case HostEvent.NamespaceBound _ -> NAMESPACE_BOUND;
      case HostEvent.NamespaceUnbound _ -> NAMESPACE_UNBOUND;
      case HostEvent.InstanceRegistered _ -> INSTANCE_REGISTERED;
      case HostEvent.InstanceCleaned _ -> INSTANCE_CLEANED;
      case HostEvent.SessionOpened _ -> SESSION_OPENED;
      case HostEvent.SessionClosed _ -> SESSION_CLOSED;
      case HostEvent.SlicesReserved _ -> SLICES_RESERVED;
      case HostEvent.SlicesPublished _ -> SLICES_PUBLISHED;
      case HostEvent.PublishAborted _ -> PUBLISH_ABORTED;
      case HostEvent.BlocksEvicted _ -> BLOCKS_EVICTED;
      case HostEvent.LeaseGranted _ -> LEASE_GRANTED;
      case HostEvent.LeaseReleased _ -> LEASE_RELEASED;
      case HostEvent.TicketOpened _ -> TICKET_OPENED;
      case HostEvent.TicketClosed _ -> TICKET_CLOSED;
      case HostEvent.RestoreStarted _ -> RESTORE_STARTED;
      case HostEvent.RestoreFinished _ -> RESTORE_FINISHED;
      case HostEvent.QueryMissed _ -> QUERY_MISSED;
      case HostEvent.RequestRefused _ -> REQUEST_REFUSED;
      case HostEvent.RegistrationRefused _ -> REGISTRATION_REFUSED;
      case HostEvent.VerifyFailed _ -> VERIFY_FAILED;
      case HostEvent.DigestRecorded _ -> DIGEST_RECORDED;
      case HostEvent.SsdTierOpened _ -> SSD_TIER_OPENED;
      case HostEvent.LayersBound _ -> LAYERS_BOUND;
      case HostEvent.SsdWritten _ -> SSD_WRITTEN;
      case HostEvent.SsdEvicted _ -> SSD_EVICTED;
      case HostEvent.BlocksDemoted _ -> BLOCKS_DEMOTED;
      case HostEvent.BlocksLoading _ -> BLOCKS_LOADING;
      case HostEvent.BlocksLoaded _ -> BLOCKS_LOADED;
      case HostEvent.LoadFailed _ -> LOAD_FAILED;
      case HostEvent.TierDegraded _ -> TIER_DEGRADED;
      case HostEvent.TierRecovered _ -> TIER_RECOVERED;
      case HostEvent.SsdSkipped _ -> SSD_SKIPPED;
      case HostEvent.PoolOpened _ -> POOL_OPENED;
      case HostEvent.BlocksKept _ -> BLOCKS_KEPT;
      case HostEvent.BlocksAdopted _ -> BLOCKS_ADOPTED;
      case HostEvent.BlocksNotAdopted _ -> BLOCKS_NOT_ADOPTED;
      case HostEvent.GrantOpened _ -> GRANT_OPENED;
      case HostEvent.GrantClosed _ -> GRANT_CLOSED;
      case HostEvent.RemoteReadBegun _ -> REMOTE_READ_BEGUN;
      case HostEvent.RemoteReadQuarantined _ -> REMOTE_READ_QUARANTINED;
      case HostEvent.RemoteReadEnded _ -> REMOTE_READ_ENDED;
      case HostEvent.PlacementSeen _ -> PLACEMENT_SEEN;
    };
  }
}
