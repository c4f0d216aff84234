package io.orbitkv.journal;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.identity.StateComponent;

/**
 * The number of each enum constant on disk, spelled out so that reordering a Java enum changes
 * nothing that was written.
 */
final class EnumCodes {
  private EnumCodes() {}

  static int code(HostEvent.SessionRole value) {
    return switch (value) {
      case LOAD -> 1;
      case SAVE -> 2;
      case QUERY -> 3;
    };
  }

  static int code(HostEvent.SessionEnd value) {
    return switch (value) {
      case UNREGISTERED -> 1;
      case DISCONNECTED -> 2;
      case SUPERSEDED -> 3;
      case PROTOCOL_VIOLATION -> 4;
      case CLEANED -> 5;
      case SHUTDOWN -> 6;
      case RESTART -> 7;
    };
  }

  static int code(HostEvent.CleanupReason value) {
    return switch (value) {
      case REQUESTED -> 1;
      case LAST_SESSION_CLOSED -> 2;
      case SHUTDOWN -> 3;
      case RESTART -> 4;
    };
  }

  static int code(HostEvent.AbortReason value) {
    return switch (value) {
      case COPY_FAILED -> 1;
      case SESSION_CLOSED -> 2;
      case CANCELLED -> 3;
      case RESTART -> 4;
    };
  }

  static int code(HostEvent.EvictionCause value) {
    return switch (value) {
      case CAPACITY -> 1;
      case ADMISSION -> 2;
      case REQUESTED -> 3;
      case VERIFY_FAILED -> 4;
      case NEVER_SEALED -> 5;
      case RESTART -> 6;
    };
  }

  static int code(HostEvent.LeaseEnd value) {
    return switch (value) {
      case RELEASED -> 1;
      case EXPIRED -> 2;
      case SESSION_CLOSED -> 3;
      case RESTART -> 4;
    };
  }

  static int code(HostEvent.TicketEnd value) {
    return switch (value) {
      case READY -> 1;
      case MISS -> 2;
      case CANCELLED -> 3;
      case REPLACED -> 4;
      case EXPIRED -> 5;
      case SESSION_CLOSED -> 6;
      case RESTART -> 7;
    };
  }

  static int code(HostEvent.RestoreOutcome value) {
    return switch (value) {
      case DONE -> 1;
      case VERIFY_FAILED -> 2;
      case COPY_FAILED -> 3;
      case CANCELLED -> 4;
      case RESTART -> 5;
    };
  }

  static int code(HostEvent.Operation value) {
    return switch (value) {
      case REGISTER -> 1;
      case QUERY -> 2;
      case PUBLISH -> 3;
      case RESTORE -> 4;
      case RELEASE -> 5;
      case POLL -> 6;
      case CANCEL -> 7;
      case PREPARE -> 8;
    };
  }

  static int code(HostEvent.RefusalCategory value) {
    return switch (value) {
      case USER -> 1;
      case RESOURCE -> 2;
      case STALE -> 3;
      case UNAVAILABLE -> 4;
      case INTERNAL -> 5;
    };
  }

  static int code(HostEvent.SsdEvictionCause value) {
    return switch (value) {
      case CAPACITY -> 1;
      case REQUESTED -> 2;
      case TIER_LOST -> 3;
    };
  }

  static int code(HostEvent.SsdSkip value) {
    return switch (value) {
      case QUEUE_FULL -> 1;
      case DISK_ILL -> 2;
      case NOT_REUSED -> 3;
      case TIER_FULL -> 4;
    };
  }

  static int code(HostEvent.LoadFailure value) {
    return switch (value) {
      case IO_ERROR -> 1;
      case SHORT -> 2;
      case CHECKSUM -> 3;
      case CANCELLED -> 4;
      case RESTART -> 5;
    };
  }

  static int code(HostEvent.TierTrouble value) {
    return switch (value) {
      case WRITES_FAIL -> 1;
      case DISK_FULL -> 2;
      case HANGS -> 3;
    };
  }

  static int code(HostEvent.AdoptionFailure value) {
    return switch (value) {
      case CHECKSUM -> 1;
      case FAULT -> 2;
    };
  }

  static int code(HostEvent.GrantEnd value) {
    return switch (value) {
      case RELEASED -> 1;
      case EXPIRED -> 2;
      case PEER_GONE -> 3;
      case SHUTDOWN -> 4;
      case RESTART -> 5;
    };
  }

  static int code(HostEvent.RemoteFailure value) {
    return switch (value) {
      case NONE -> 1;
      case REFUSED -> 2;
      case STALE -> 3;
      case DEADLINE -> 4;
      case UNREACHABLE -> 5;
      case PEER_LOST -> 6;
      case CORRUPT -> 7;
      case MISBEHAVED -> 8;
      case OVERLOADED -> 9;
      case CANCELLED -> 10;
      case RESTART -> 11;
    };
  }

  static int code(StateComponent value) {
    return switch (value) {
      case ATTENTION_KV -> 1;
      case MLA -> 2;
      case RECURRENT -> 3;
      case CONVOLUTION -> 4;
      case SWA -> 5;
      case DRAFT -> 6;
      case INDEXER -> 7;
    };
  }

  static HostEvent.SessionRole sessionRole(int code) {
    return switch (code) {
      case 1 -> HostEvent.SessionRole.LOAD;
      case 2 -> HostEvent.SessionRole.SAVE;
      case 3 -> HostEvent.SessionRole.QUERY;
      default -> throw unknown("SessionRole", code);
    };
  }

  static HostEvent.SessionEnd sessionEnd(int code) {
    return switch (code) {
      case 1 -> HostEvent.SessionEnd.UNREGISTERED;
      case 2 -> HostEvent.SessionEnd.DISCONNECTED;
      case 3 -> HostEvent.SessionEnd.SUPERSEDED;
      case 4 -> HostEvent.SessionEnd.PROTOCOL_VIOLATION;
      case 5 -> HostEvent.SessionEnd.CLEANED;
      case 6 -> HostEvent.SessionEnd.SHUTDOWN;
      case 7 -> HostEvent.SessionEnd.RESTART;
      default -> throw unknown("SessionEnd", code);
    };
  }

  static HostEvent.CleanupReason cleanupReason(int code) {
    return switch (code) {
      case 1 -> HostEvent.CleanupReason.REQUESTED;
      case 2 -> HostEvent.CleanupReason.LAST_SESSION_CLOSED;
      case 3 -> HostEvent.CleanupReason.SHUTDOWN;
      case 4 -> HostEvent.CleanupReason.RESTART;
      default -> throw unknown("CleanupReason", code);
    };
  }

  static HostEvent.AbortReason abortReason(int code) {
    return switch (code) {
      case 1 -> HostEvent.AbortReason.COPY_FAILED;
      case 2 -> HostEvent.AbortReason.SESSION_CLOSED;
      case 3 -> HostEvent.AbortReason.CANCELLED;
      case 4 -> HostEvent.AbortReason.RESTART;
      default -> throw unknown("AbortReason", code);
    };
  }

  static HostEvent.EvictionCause evictionCause(int code) {
    return switch (code) {
      case 1 -> HostEvent.EvictionCause.CAPACITY;
      case 2 -> HostEvent.EvictionCause.ADMISSION;
      case 3 -> HostEvent.EvictionCause.REQUESTED;
      case 4 -> HostEvent.EvictionCause.VERIFY_FAILED;
      case 5 -> HostEvent.EvictionCause.NEVER_SEALED;
      case 6 -> HostEvent.EvictionCause.RESTART;
      default -> throw unknown("EvictionCause", code);
    };
  }

  static HostEvent.LeaseEnd leaseEnd(int code) {
    return switch (code) {
      case 1 -> HostEvent.LeaseEnd.RELEASED;
      case 2 -> HostEvent.LeaseEnd.EXPIRED;
      case 3 -> HostEvent.LeaseEnd.SESSION_CLOSED;
      case 4 -> HostEvent.LeaseEnd.RESTART;
      default -> throw unknown("LeaseEnd", code);
    };
  }

  static HostEvent.TicketEnd ticketEnd(int code) {
    return switch (code) {
      case 1 -> HostEvent.TicketEnd.READY;
      case 2 -> HostEvent.TicketEnd.MISS;
      case 3 -> HostEvent.TicketEnd.CANCELLED;
      case 4 -> HostEvent.TicketEnd.REPLACED;
      case 5 -> HostEvent.TicketEnd.EXPIRED;
      case 6 -> HostEvent.TicketEnd.SESSION_CLOSED;
      case 7 -> HostEvent.TicketEnd.RESTART;
      default -> throw unknown("TicketEnd", code);
    };
  }

  static HostEvent.RestoreOutcome restoreOutcome(int code) {
    return switch (code) {
      case 1 -> HostEvent.RestoreOutcome.DONE;
      case 2 -> HostEvent.RestoreOutcome.VERIFY_FAILED;
      case 3 -> HostEvent.RestoreOutcome.COPY_FAILED;
      case 4 -> HostEvent.RestoreOutcome.CANCELLED;
      case 5 -> HostEvent.RestoreOutcome.RESTART;
      default -> throw unknown("RestoreOutcome", code);
    };
  }

  static HostEvent.Operation operation(int code) {
    return switch (code) {
      case 1 -> HostEvent.Operation.REGISTER;
      case 2 -> HostEvent.Operation.QUERY;
      case 3 -> HostEvent.Operation.PUBLISH;
      case 4 -> HostEvent.Operation.RESTORE;
      case 5 -> HostEvent.Operation.RELEASE;
      case 6 -> HostEvent.Operation.POLL;
      case 7 -> HostEvent.Operation.CANCEL;
      case 8 -> HostEvent.Operation.PREPARE;
      default -> throw unknown("Operation", code);
    };
  }

  static HostEvent.RefusalCategory refusalCategory(int code) {
    return switch (code) {
      case 1 -> HostEvent.RefusalCategory.USER;
      case 2 -> HostEvent.RefusalCategory.RESOURCE;
      case 3 -> HostEvent.RefusalCategory.STALE;
      case 4 -> HostEvent.RefusalCategory.UNAVAILABLE;
      case 5 -> HostEvent.RefusalCategory.INTERNAL;
      default -> throw unknown("RefusalCategory", code);
    };
  }

  static HostEvent.SsdEvictionCause ssdEvictionCause(int code) {
    return switch (code) {
      case 1 -> HostEvent.SsdEvictionCause.CAPACITY;
      case 2 -> HostEvent.SsdEvictionCause.REQUESTED;
      case 3 -> HostEvent.SsdEvictionCause.TIER_LOST;
      default -> throw unknown("SsdEvictionCause", code);
    };
  }

  static HostEvent.SsdSkip ssdSkip(int code) {
    return switch (code) {
      case 1 -> HostEvent.SsdSkip.QUEUE_FULL;
      case 2 -> HostEvent.SsdSkip.DISK_ILL;
      case 3 -> HostEvent.SsdSkip.NOT_REUSED;
      case 4 -> HostEvent.SsdSkip.TIER_FULL;
      default -> throw unknown("SsdSkip", code);
    };
  }

  static HostEvent.LoadFailure loadFailure(int code) {
    return switch (code) {
      case 1 -> HostEvent.LoadFailure.IO_ERROR;
      case 2 -> HostEvent.LoadFailure.SHORT;
      case 3 -> HostEvent.LoadFailure.CHECKSUM;
      case 4 -> HostEvent.LoadFailure.CANCELLED;
      case 5 -> HostEvent.LoadFailure.RESTART;
      default -> throw unknown("LoadFailure", code);
    };
  }

  static HostEvent.TierTrouble tierTrouble(int code) {
    return switch (code) {
      case 1 -> HostEvent.TierTrouble.WRITES_FAIL;
      case 2 -> HostEvent.TierTrouble.DISK_FULL;
      case 3 -> HostEvent.TierTrouble.HANGS;
      default -> throw unknown("TierTrouble", code);
    };
  }

  static HostEvent.AdoptionFailure adoptionFailure(int code) {
    return switch (code) {
      case 1 -> HostEvent.AdoptionFailure.CHECKSUM;
      case 2 -> HostEvent.AdoptionFailure.FAULT;
      default -> throw unknown("AdoptionFailure", code);
    };
  }

  static HostEvent.GrantEnd grantEnd(int code) {
    return switch (code) {
      case 1 -> HostEvent.GrantEnd.RELEASED;
      case 2 -> HostEvent.GrantEnd.EXPIRED;
      case 3 -> HostEvent.GrantEnd.PEER_GONE;
      case 4 -> HostEvent.GrantEnd.SHUTDOWN;
      case 5 -> HostEvent.GrantEnd.RESTART;
      default -> throw unknown("GrantEnd", code);
    };
  }

  static HostEvent.RemoteFailure remoteFailure(int code) {
    return switch (code) {
      case 1 -> HostEvent.RemoteFailure.NONE;
      case 2 -> HostEvent.RemoteFailure.REFUSED;
      case 3 -> HostEvent.RemoteFailure.STALE;
      case 4 -> HostEvent.RemoteFailure.DEADLINE;
      case 5 -> HostEvent.RemoteFailure.UNREACHABLE;
      case 6 -> HostEvent.RemoteFailure.PEER_LOST;
      case 7 -> HostEvent.RemoteFailure.CORRUPT;
      case 8 -> HostEvent.RemoteFailure.MISBEHAVED;
      case 9 -> HostEvent.RemoteFailure.OVERLOADED;
      case 10 -> HostEvent.RemoteFailure.CANCELLED;
      case 11 -> HostEvent.RemoteFailure.RESTART;
      default -> throw unknown("RemoteFailure", code);
    };
  }

  static StateComponent stateComponent(int code) {
    return switch (code) {
      case 1 -> StateComponent.ATTENTION_KV;
      case 2 -> StateComponent.MLA;
      case 3 -> StateComponent.RECURRENT;
      case 4 -> StateComponent.CONVOLUTION;
      case 5 -> StateComponent.SWA;
      case 6 -> StateComponent.DRAFT;
      case 7 -> StateComponent.INDEXER;
      default -> throw unknown("StateComponent", code);
    };
  }

  private static UnreadableRecord unknown(String type, int code) {
    return new UnreadableRecord(
        type + " " + code + " is not known to this version: use a newer orbitkv");
  }
}
