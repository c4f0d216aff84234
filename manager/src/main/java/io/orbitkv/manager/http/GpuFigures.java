package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.core.copy.GpuMover;
import io.orbitkv.manager.gpu.Gpus;
import io.orbitkv.manager.metrics.PrometheusText;
import java.util.List;
import java.util.function.ToLongFunction;

/** The open GPUs in {@code /status} and {@code /metrics}; a daemon without one shows none of it. */
final class GpuFigures {
  private static final String LABEL = "gpu";

  private GpuFigures() {}

  static void status(ObjectNode body, List<Gpus.View> views) {
    if (views.isEmpty()) {
      return;
    }
    ArrayNode gpus = body.putArray("gpus");
    for (Gpus.View view : views) {
      GpuMover.Report report = view.report();
      String problem = report.problem();
      gpus.addObject()
          .put("uuid", view.gpu().uuid())
          .put("name", view.gpu().name())
          .put("ordinal", view.gpu().ordinal())
          .put("mps", view.mps().name())
          .put("stagingRings", view.openHandles())
          .put("ringsInUse", report.rings())
          .put("busySlots", report.busySlots())
          .put("loadedBytes", report.loadedBytes())
          .put("savedBytes", report.savedBytes())
          .put("loadChunks", report.loadChunks())
          .put("saveChunks", report.saveChunks())
          .put("copies", report.copies())
          .put("problem", problem == null ? "" : problem);
    }
  }

  static void metrics(PrometheusText page, List<Gpus.View> views) {
    if (views.isEmpty()) {
      return;
    }
    each(
        page,
        views,
        "staging_rings",
        "gauge",
        "Staging rings that are open.",
        Gpus.View::openHandles);
    each(page, views, "busy_slots", "gauge", "Slots under way.", v -> v.report().busySlots());
    each(page, views, "loaded_bytes_total", "counter", "Restored.", v -> v.report().loadedBytes());
    each(page, views, "saved_bytes_total", "counter", "Published.", v -> v.report().savedBytes());
    each(
        page,
        views,
        "load_chunks_total",
        "counter",
        "Slots scattered.",
        v -> v.report().loadChunks());
    each(
        page,
        views,
        "save_chunks_total",
        "counter",
        "Slots gathered.",
        v -> v.report().saveChunks());
    each(
        page,
        views,
        "copies_total",
        "counter",
        "Pieces that the copy engines took.",
        v -> v.report().copies());
    each(
        page,
        views,
        "healthy",
        "gauge",
        "1 if copies are taken.",
        v -> v.report().problem() == null ? 1 : 0);
  }

  private static void each(
      PrometheusText page,
      List<Gpus.View> views,
      String name,
      String type,
      String help,
      ToLongFunction<Gpus.View> value) {
    String family = "orbitkv_gpu_" + name;
    page.family(family, type, help);
    for (Gpus.View view : views) {
      page.sample(family, LABEL, view.gpu().uuid(), value.applyAsLong(view));
    }
  }
}
