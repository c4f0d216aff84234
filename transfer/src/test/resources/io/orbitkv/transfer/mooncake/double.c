/* A double of libtransfer_engine's C API (v0.3.0), for tests in one process: a segment is an engine of
   this process, a read is a memcpy when its status is asked for. double_hold(1) lets nothing complete
   until double_hold(0), as a stopped peer does; double_fail(1) fails what is submitted then. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request { int opcode; void *source; int32_t target; uint64_t offset; uint64_t length; };
struct status { int status; uint64_t bytes; };
struct batch { int live; size_t count; int failed; int done[64]; struct request requests[64]; };

static int engines = 0;
static volatile int held = 0, failing = 0, alive = 0;
static struct batch batches[256];

void double_hold(int on) { held = on; }
void double_fail(int on) { failing = on; }
int double_alive(void) { return alive; }

void *createTransferEngine(const char *metadata, const char *name, const char *host, uint64_t port, int discover) {
  (void)name; (void)host; (void)port; (void)discover;
  const char *level = getenv("MC_LOG_LEVEL");
  if (strcmp(metadata, "P2PHANDSHAKE") != 0 || level == NULL || strcmp(level, "ERROR") != 0) return NULL;
  int *engine = malloc(sizeof(int));
  *engine = 15000 + ++engines;
  alive++;
  return engine;
}
void destroyTransferEngine(void *engine) { alive--; free(engine); }
void *installTransport(void *engine, const char *proto, void **args) { (void)args; return strcmp(proto, "tcp") ? NULL : engine; }
int getLocalIpAndPort(void *engine, char *out, size_t length) { snprintf(out, length, "127.0.0.1:%d", *(int *)engine); return 0; }
int registerLocalMemory(void *engine, void *at, size_t length, const char *location, int remote) {
  (void)engine; (void)at; (void)location; (void)remote;
  return length == 0 ? -1 : 0;
}
int32_t openSegment(void *engine, const char *name) {
  (void)engine;
  int port = atoi(strrchr(name, ':') + 1);
  return port > 15000 && port <= 15000 + engines ? port : -1;
}
uint64_t allocateBatchID(void *engine, size_t size) {
  (void)engine;
  if (size > 64) return UINT64_MAX;
  for (uint64_t i = 0; i < 256; i++)
    if (!batches[i].live) { memset(&batches[i], 0, sizeof batches[i]); batches[i].live = 1; batches[i].count = size; return i; }
  return UINT64_MAX;
}
int submitTransfer(void *engine, uint64_t id, struct request *requests, size_t count) {
  (void)engine;
  if (!batches[id].live || sizeof(struct request) != 40) return 1;
  if (count > batches[id].count) return 2;
  memcpy(batches[id].requests, requests, count * sizeof *requests);
  batches[id].failed = failing;
  return 0;
}
int getTransferStatus(void *engine, uint64_t id, size_t task, struct status *out) {
  (void)engine;
  if (!batches[id].live) abort();
  struct request *request = &batches[id].requests[task];
  if (held) { out->status = 0; return 0; }
  if (!batches[id].done[task] && !batches[id].failed) memcpy(request->source, (void *)request->offset, request->length);
  batches[id].done[task] = 1;
  out->status = batches[id].failed ? 6 : 4;
  out->bytes = request->length;
  return 0;
}
int freeBatchID(void *engine, uint64_t id) {
  (void)engine;
  if (!batches[id].live) abort();
  for (size_t i = 0; i < batches[id].count; i++) if (!batches[id].done[i]) return 4;
  batches[id].live = 0;
  return 0;
}
