package io.orbitkv.manager.replay;

import io.orbitkv.journal.FactCursor;
import io.orbitkv.journal.UnreadableRecord;
import io.orbitkv.state.Fact;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintWriter;

/**
 * {@code --events}: the facts that pass a filter, one a line; {@code --follow} goes on at the end.
 */
public final class Events {
  private static final long POLL_MILLIS = 200;
  private static final int CHECK_EVERY = 4_096;

  private final JournalDir dir;
  private final FactFilter filter;
  private final boolean json;
  private final Times times;
  private final PrintWriter out;
  private long left;

  /**
   * @param limit the most facts to print, 0 for all
   */
  public Events(
      JournalDir dir, FactFilter filter, boolean json, long limit, Times times, PrintWriter out) {
    this.dir = dir;
    this.filter = filter;
    this.json = json;
    this.times = times;
    this.out = out;
    this.left = limit == 0 ? Long.MAX_VALUE : limit;
  }

  /** Prints what there is; notes on what is missing go to {@code err}. */
  public void print(PrintWriter err, Progress progress) throws IOException {
    Scan scan = new Scan(dir, progress);
    PrintWriter buffered = new PrintWriter(new BufferedWriter(out, 1 << 16), false);
    Scan.Ended ended = run(scan, buffered, progress);
    out.flush();
    Notes.damage(ended.damages(), ended.tail(), err);
  }

  private Scan.Ended run(Scan scan, PrintWriter to, Progress progress) throws IOException {
    FactText text = new FactText(times, scan.names());
    FactJson asJson = new FactJson(scan.names());
    Scan.Ended ended =
        scan.run(
            (fact, links, names) -> {
              if (filter.isPast(fact)) {
                return false;
              }
              show(fact, links, names, text, asJson, to, progress);
              boolean unread = left % CHECK_EVERY == 0 && to.checkError();
              return left > 0 && !unread;
            });
    to.flush();
    return ended;
  }

  private void show(
      Fact fact,
      Links links,
      Names names,
      FactText text,
      FactJson asJson,
      PrintWriter to,
      Progress progress) {
    if (left > 0 && filter.passes(fact, links, names)) {
      Links.Scope scope = links.scope(fact, names);
      progress.hide();
      to.println(json ? asJson.line(fact, scope) : text.line(fact, scope));
      left--;
    }
  }

  /**
   * Prints what there is and then what the Manager appends, until the limit is reached, the thread
   * is interrupted, or nobody reads the output any more.
   */
  public void follow(PrintWriter err, Progress progress) throws IOException, InterruptedException {
    Scan scan = new Scan(dir, progress);
    FactText text = new FactText(times, scan.names());
    FactJson asJson = new FactJson(scan.names());
    Scan.Ended ended = run(scan, out, progress);
    try (FactCursor cursor = dir.reader().follow(ended.lastPosition() + 1)) {
      while (left > 0 && !out.checkError()) {
        switch (cursor.next()) {
          case END -> Thread.sleep(POLL_MILLIS);
          case DAMAGED -> err.println("orbitkv: " + cursor.corruption().describe());
          case FACT -> {
            Fact fact = cursor.fact();
            if (filter.isPast(fact)) {
              return;
            }
            scan.offer(
                fact,
                (seen, links, names) -> {
                  show(seen, links, names, text, asJson, out, progress);
                  return true;
                });
          }
        }
      }
    } catch (UnreadableRecord e) {
      throw JournalDir.newer(e);
    }
  }
}
