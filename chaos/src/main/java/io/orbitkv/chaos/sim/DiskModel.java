package io.orbitkv.chaos.sim;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.LongRanges;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What lies where on SSD: the journal read plainly, held against every operation of the disk. It
 * knows each piece of 4 KiB by what the facts say of it and by what the disk did to it, and shares
 * no code with the Manager's books.
 */
final class DiskModel {
  /** Where one slice lies: pieces {@code from} to {@code to - 1} of a file. */
  private record Place(int file, int from, int to, long generation) {
    @Override
    public String toString() {
      return "pieces %d to %d of file %d".formatted(from, to - 1, file);
    }
  }

  /** 4 KiB of a file. */
  private static final class Piece {
    /** The block that lies here in the journal, 0 if none does. */
    long owner;

    /** Of the last that did. */
    long generation;

    /** Reads in the journal that have not ended there. */
    int claims;

    /** Operations that the disk has not ended. */
    int reads;

    int writes;

    /** The last write here was whole, and the disk said so. */
    boolean whole;
  }

  private final FactModel facts;
  private final Piece[][] files;
  private final int pieceBytes;
  private final Map<Long, List<Place>> live = new HashMap<>();
  private final Map<Long, List<Place>> loading = new HashMap<>();

  DiskModel(FactModel facts, int fileCount, int fileBytes, int pieceBytes) {
    this.facts = facts;
    this.pieceBytes = pieceBytes;
    this.files = new Piece[fileCount][fileBytes / pieceBytes];
    for (Piece[] file : files) {
      for (int i = 0; i < file.length; i++) {
        file[i] = new Piece();
      }
    }
  }

  // ---- the journal
  // -------------------------------------------------------------------------------------------------

  /** A fact is in the journal. */
  void add(HostEvent event) {
    switch (event) {
      case HostEvent.SsdWritten written -> written(written);
      case HostEvent.SsdEvicted evicted -> evicted.blocks().forEach(this::leaves);
      case HostEvent.BlocksEvicted evicted -> evicted.blocks().forEach(this::leaves);
      case HostEvent.BlocksLoading begun -> begun.blocks().forEach(this::claim);
      case HostEvent.BlocksLoaded loaded -> giveBack(loaded.blocks());
      case HostEvent.LoadFailed failed -> {
        giveBack(failed.blocks());
        if (failed.reason() != LoadFailure.CANCELLED && failed.reason() != LoadFailure.RESTART) {
          failed.blocks().forEach(this::leaves);
        }
      }
      default -> {
        // Nothing else says where a block lies on SSD.
      }
    }
  }

  private void written(HostEvent.SsdWritten fact) {
    int[] column = {0};
    fact.blocks()
        .forEach(
            id -> {
              FactModel.Block block = facts.block(id);
              List<Place> places = new ArrayList<>();
              for (int slice = 0; block != null && slice < block.slices; slice++) {
                int at = column[0]++;
                int from = (int) (fact.offsets().get(at) / pieceBytes);
                Place place =
                    new Place(
                        (int) fact.files().get(at),
                        from,
                        from + (block.bytes(slice) + pieceBytes - 1) / pieceBytes,
                        fact.generations().get(at));
                takes(id, place);
                places.add(place);
              }
              live.put(id, places);
            });
  }

  private void takes(long id, Place place) {
    for (int i = place.from(); i < place.to(); i++) {
      Piece piece = files[place.file()][i];
      Violation.require(
          piece.whole && piece.writes == 0,
          Rule.SSD_WRITTEN,
          () -> "block %d is said to lie in %s".formatted(id, place));
      Violation.require(
          piece.owner == 0,
          Rule.SSD_REUSED,
          () -> "block %d takes %s from block %d".formatted(id, place, piece.owner));
      Violation.require(
          piece.generation < place.generation(),
          Rule.SSD_GENERATION,
          () ->
              "block %d lies in %s with generation %d, after %d"
                  .formatted(id, place, place.generation(), piece.generation));
      piece.owner = id;
      piece.generation = place.generation();
    }
  }

  private void leaves(long id) {
    for (Place place : of(live.remove(id))) {
      for (int i = place.from(); i < place.to(); i++) {
        files[place.file()][i].owner = 0;
      }
    }
  }

  private void claim(long id) {
    List<Place> places = live.get(id);
    if (places == null) {
      throw new Violation(Rule.INVARIANT, "block %d is read back and is not on SSD".formatted(id));
    }
    loading.put(id, places);
    for (Place place : places) {
      for (int i = place.from(); i < place.to(); i++) {
        files[place.file()][i].claims++;
      }
    }
  }

  private void giveBack(LongRanges blocks) {
    blocks.forEach(
        id -> {
          for (Place place : of(loading.remove(id))) {
            for (int i = place.from(); i < place.to(); i++) {
              files[place.file()][i].claims--;
            }
          }
        });
  }

  private static List<Place> of(@Nullable List<Place> places) {
    return places == null ? List.of() : places;
  }

  // ---- the disk
  // ----------------------------------------------------------------------------------------------------

  /** The disk is asked for an operation. */
  void begins(boolean read, int file, long offset, int bytes) {
    int from = (int) (offset / pieceBytes);
    for (int i = from; i < from + bytes / pieceBytes; i++) {
      Piece piece = files[file][i];
      int at = i;
      if (read) {
        Violation.require(
            piece.claims > 0,
            Rule.TOLD_BEFORE_FACT,
            () -> "piece %d of file %d is read, and no fact says so".formatted(at, file));
        piece.reads++;
      } else {
        Violation.require(
            piece.owner == 0 && piece.claims + piece.reads + piece.writes == 0,
            Rule.SSD_REUSED,
            () ->
                "piece %d of file %d is written over block %d, with %d reads and %d writes of it"
                    .formatted(
                        at, file, piece.owner, Math.max(piece.claims, piece.reads), piece.writes));
        piece.writes++;
        piece.whole = false;
      }
    }
  }

  /**
   * The disk has ended an operation.
   *
   * @param moved bytes from the first on that it said to have moved
   */
  void ended(boolean read, int file, long offset, int bytes, int moved) {
    int from = (int) (offset / pieceBytes);
    for (int i = from; i < from + bytes / pieceBytes; i++) {
      Piece piece = files[file][i];
      if (read) {
        piece.reads--;
      } else {
        piece.writes--;
        piece.whole = (i + 1 - from) * pieceBytes <= moved;
      }
    }
  }

  /** The process is gone, and what it had asked of the disk with it. */
  void died() {
    for (Piece[] file : files) {
      for (Piece piece : file) {
        piece.reads = 0;
        piece.writes = 0;
      }
    }
  }
}
