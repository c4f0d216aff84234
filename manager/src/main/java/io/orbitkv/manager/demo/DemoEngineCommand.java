package io.orbitkv.manager.demo;

import io.orbitkv.manager.cli.ExitCode;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.Trace;
import io.orbitkv.manager.workload.TracePlayer;
import io.orbitkv.manager.workload.TraceRequest;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The demo's engine: plays the workload and tells the demo how far it is. */
@Command(name = "engine", hidden = true, description = "The engine of the demo.")
final class DemoEngineCommand implements Callable<Integer> {
  private static final long EVERY_NANOS = 80_000_000;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DemoWorkload workload = new DemoWorkload();

  @Parameters(paramLabel = "SOCKET", description = "The Manager's socket.")
  private String socket = "";

  private final Set<Long> published = new HashSet<>();
  private String missed = "";
  private boolean missedEvicted;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Trace trace = workload.load();
    try (Engine engine = Engine.connect(socket, DemoWorkload.shape(trace))) {
      TracePlayer player = new TracePlayer(engine);
      long told = System.nanoTime();
      for (int i = 0; i < trace.requests().size(); i++) {
        TraceRequest request = trace.requests().get(i);
        String name = DemoWorkload.name(i);
        remember(request, name, player.play(request, name));
        if (System.nanoTime() - told > EVERY_NANOS) {
          told = System.nanoTime();
          out.println(EngineReport.of(player.totals(), false, "", false).line());
          if (out.checkError()) {
            return ExitCode.FAILED; // the demo is gone
          }
        }
      }
      out.println(EngineReport.of(player.totals(), true, missed, missedEvicted).line());
      out.flush();
    }
    return ExitCode.OK;
  }

  /** Keeps a request whose miss is worth a look: best one that missed what had been there. */
  private void remember(TraceRequest request, String name, int hits) {
    if (hits < request.blockCount()) {
      boolean evicted = published.contains(request.block(hits));
      if (evicted || !missedEvicted) {
        missed = name;
        missedEvicted = evicted;
      }
    }
    for (int i = 0; i < request.blockCount(); i++) {
      published.add(request.block(i));
    }
  }
}
