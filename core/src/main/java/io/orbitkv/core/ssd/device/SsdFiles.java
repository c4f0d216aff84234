package io.orbitkv.core.ssd.device;

import io.orbitkv.ffi.DiskFile;
import io.orbitkv.ffi.Shortfall;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The files of the SSD tier, open, locked against other Managers, and with all their space
 * reserved, so that no write into them runs out of it.
 *
 * <p>Files that another run left continue that run's tier if they all belong to it, in the same
 * order; what lies in them is then still what the journal says of the tier with that id. Otherwise
 * all of them begin a new tier and what they held counts for nothing.
 */
public final class SsdFiles implements AutoCloseable {
  /** Where the bytes of extents begin in each file. */
  public static final int FIRST_OFFSET = SsdHeader.BYTES;

  private final UUID tierId;
  private final String freshBecause;
  private final List<DiskFile> files;
  private final List<DiskFile> locks;
  private final List<Long> bytes;
  private final List<Shortfall> shortfalls;

  SsdFiles(
      UUID tierId,
      String freshBecause,
      List<DiskFile> files,
      List<DiskFile> locks,
      List<Long> bytes,
      List<Shortfall> shortfalls) {
    this.tierId = tierId;
    this.freshBecause = freshBecause;
    this.files = List.copyOf(files);
    this.locks = List.copyOf(locks);
    this.bytes = List.copyOf(bytes);
    this.shortfalls = List.copyOf(shortfalls);
  }

  /**
   * Opens the files, and makes those that are missing.
   *
   * @param freshTierId the id of the tier if a new one begins
   */
  public static SsdOpening<SsdFiles> open(List<SsdFileSpec> specs, UUID freshTierId) {
    return new SsdFilesOpener(specs, freshTierId).open();
  }

  public UUID tierId() {
    return tierId;
  }

  /** Whether a new tier begins. */
  public boolean fresh() {
    return !freshBecause.isEmpty();
  }

  /** Why a new tier begins; empty if one is continued. */
  public String freshBecause() {
    return freshBecause;
  }

  /** How many files there are. */
  public int count() {
    return files.size();
  }

  /** A file's length; extents lie from {@link #FIRST_OFFSET} up to it. */
  public long bytes(int file) {
    return bytes.get(file);
  }

  /** What all files hold together without their headers. */
  public long capacityBytes() {
    return bytes.stream().mapToLong(each -> each - FIRST_OFFSET).sum();
  }

  /** Whether all of them are read and written past the page cache. */
  public boolean direct() {
    return files.stream().allMatch(DiskFile::direct);
  }

  /** What their file systems did not grant, and why. */
  public List<Shortfall> shortfalls() {
    return shortfalls;
  }

  /** For a device, in the order of the specs. */
  public List<DiskFile> files() {
    return files;
  }

  /** Closes and unlocks them; close the device first. */
  @Override
  public void close() {
    closeAll(files, locks);
  }

  static void closeAll(List<DiskFile> files, List<DiskFile> locks) {
    List<DiskFile> all = new ArrayList<>(files);
    all.addAll(locks);
    all.forEach(DiskFile::close);
  }
}
