// Scatters extents from a staging slot to an engine's pages, or gathers pages into a slot, and sums what it moves
// (docs/checksum.md) in the same pass. docs/hacking.md has the command that makes pages.ptx of it.
//
// A run of layers of one entry is one piece of its extent. It is cut at multiples of 4 KiB of the extent, where the
// checksum's chunks begin, and each warp takes a chunk at a time: its key and its weight are computed once, layers of
// any size share the warps evenly, and any grid gives the same bytes and sums. In the slot, byte p of the extent lies at
// the entry's slotOffset + p - extentOffset of the first layer. Between layers, which begin at multiples of 64 bytes, the
// slot is neither read nor written, but for the bytes that fill a layer's last word: a gather writes them as zero.
//
// Without 64-bit indices in the inner loop: a slot is at most 256 MiB, so offsets within a layer fit 32 bits.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// Where one layer of a group lies in the engine's memory; address is that of block 0, segment 0.
struct Layer {
  u64 address;
  u64 blockStride;
  u64 segmentStride;
  u32 segmentCount;
  u32 segmentBytes;
  u64 extentOffset;  // a multiple of 64, ascending from layer to layer
};

// A block's page and where its extent's piece begins in the slot, at a multiple of 64.
struct Entry {
  u32 pageIndex;
  u32 reserved;
  u64 slotOffset;
};

// Entries that travel with the launch: reading them across the bus would wait behind the Manager's copies, and hold a place
// on a multiprocessor meanwhile. With the other parameters they fill the 4 KiB that every driver takes.
constexpr u32 INLINE_ENTRIES = 240;
struct Inline {
  Entry at[INLINE_ENTRIES];
};

static_assert(sizeof(Layer) == 40 && sizeof(Entry) == 16, "as on the board");

constexpr u32 CHUNK_BYTES = 4096;
constexpr u32 CHUNK_WORDS = CHUNK_BYTES / 8;
constexpr u64 STEP = 0x9E3779B97F4A7C15ull;
constexpr u32 WARP = 32;

__device__ __forceinline__ u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ __forceinline__ u64 term(u64 word, u64 tableEntry, u64 key) {
  const u64 x = word + tableEntry + key;
  return u64(u32(x)) * u32(x >> 32) + word;
}

__device__ __forceinline__ u32 payloadBytes(const Layer& layer) { return layer.segmentCount * layer.segmentBytes; }

// The widest access, in bytes, that fits every segment of the layer and the words of the extent.
__device__ __forceinline__ u32 accessBytes(const Layer& layer, const u8* slot) {
  u64 all = layer.address | layer.blockStride;
  if (layer.segmentCount > 1) all |= layer.segmentStride | layer.segmentBytes;
  if (all % 16 == 0 && u64(slot) % 16 == 0) return 16;
  return all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
}

// A place in a layer's pages that moves on by a fixed number of bytes, without a division at each step.
struct Cursor {
  u8* page;
  u64 segmentStride;
  u32 segmentBytes;
  u32 segment;
  u32 offset;
  u32 stepSegments;
  u32 stepBytes;

  __device__ __forceinline__ Cursor(const Layer& layer, u8* page, u32 at, u32 step)
      : page(page),
        segmentStride(layer.segmentStride),
        segmentBytes(layer.segmentBytes),
        segment(at / layer.segmentBytes),
        offset(at % layer.segmentBytes),
        stepSegments(step / layer.segmentBytes),
        stepBytes(step % layer.segmentBytes) {}

  __device__ __forceinline__ u8* get() const { return page + segment * segmentStride + offset; }

  __device__ __forceinline__ void advance() {
    segment += stepSegments;
    offset += stepBytes;
    if (offset >= segmentBytes) {
      offset -= segmentBytes;
      ++segment;
    }
  }
};

// Moves up to 8 bytes that end with the layer or cross segments, in accesses of T; returns them as a zero-padded word.
template <bool SCATTER, typename T>
__device__ __forceinline__ u64 moveWord(const Layer& layer, u8* page, u8* slotWord, u32 at, u32 bytes) {
  u64 word = 0;
  if (SCATTER) {
    word = *reinterpret_cast<const u64*>(slotWord);
    if (bytes < 8) word &= (1ull << 8 * bytes) - 1;
  }
  u32 segment = at / layer.segmentBytes;
  u32 offset = at % layer.segmentBytes;
  for (u32 part = 0; part < bytes; part += sizeof(T)) {
    T* place = reinterpret_cast<T*>(page + segment * layer.segmentStride + offset);
    if (SCATTER) {
      *place = T(word >> 8 * part);
    } else {
      word |= u64(*place) << 8 * part;
    }
    offset += sizeof(T);
    if (offset == layer.segmentBytes) {
      offset = 0;
      ++segment;
    }
  }
  if (!SCATTER) *reinterpret_cast<u64*>(slotWord) = word;
  return word;
}

// Moves bytes [from, to) of a layer, which lie in one chunk, and returns this lane's unweighted terms.
// `slotLayer` is where the layer's byte 0 would lie in the slot; `firstWord` is the word of `from` in its chunk.
template <bool SCATTER>
__device__ __forceinline__ u64 movePiece(const Layer& layer, u8* page, u8* slotLayer, u32 from, u32 to, u32 firstWord,
                                         u64 key, const u64* table, u32 lane) {
  const u32 access = accessBytes(layer, slotLayer);
  u64 total = 0;
  u32 whole = from;  // what wide accesses have moved
  if (access == 16) {
    whole = from + ((to - from) & ~15u);
    Cursor cursor(layer, page, from + 16 * lane, 16 * WARP);
    const ulonglong2* terms = reinterpret_cast<const ulonglong2*>(table + firstWord);
    u8* slotAt = slotLayer + from + 16 * lane;
    const u32 steps = whole > from + 16 * lane ? (whole - from - 16 * lane + 16 * WARP - 1) / (16 * WARP) : 0;
    // Four loads under way at a time: eight steps make a chunk.
    for (u32 step = 0; step < steps; step += 4) {
      ulonglong2 words[4];
      ulonglong2* targets[4];
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        if (step + i < steps) {
          ulonglong2* there = reinterpret_cast<ulonglong2*>(cursor.get());
          ulonglong2* here = reinterpret_cast<ulonglong2*>(slotAt + (step + i) * 16 * WARP);
          words[i] = __ldcs(SCATTER ? here : there);
          targets[i] = SCATTER ? there : here;
          cursor.advance();
        }
      }
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        if (step + i < steps) {
          const ulonglong2 known = terms[(step + i) * WARP + lane];
          __stcs(targets[i], words[i]);
          total += term(words[i].x, known.x, key) + term(words[i].y, known.y, key);
        }
      }
    }
  } else if (access == 8) {
    whole = from + ((to - from) & ~7u);
    Cursor cursor(layer, page, from + 8 * lane, 8 * WARP);
    for (u32 at = from + 8 * lane; at < whole; at += 8 * WARP) {
      u64* there = reinterpret_cast<u64*>(cursor.get());
      u64* here = reinterpret_cast<u64*>(slotLayer + at);
      const u64 word = __ldcs(SCATTER ? here : there);
      __stcs(SCATTER ? there : here, word);
      total += term(word, table[firstWord + (at - from) / 8], key);
      cursor.advance();
    }
  }
  for (u32 at = whole + 8 * lane; at < to; at += 8 * WARP) {
    const u32 bytes = min(8u, to - at);
    const u64 word = access == 4 && bytes % 4 == 0
                         ? moveWord<SCATTER, u32>(layer, page, slotLayer + at, at, bytes)
                         : moveWord<SCATTER, u8>(layer, page, slotLayer + at, at, bytes);
    total += term(word, table[firstWord + (at - from) / 8], key);
  }
  return total;
}

// The last layer of [first, first + count) that begins at or before that byte of the extent.
__device__ __forceinline__ u32 layerAt(const Layer* layers, u32 first, u32 count, u64 position) {
  u32 low = first, high = first + count;
  while (high - low > 1) {
    const u32 middle = low + (high - low) / 2;
    if (layers[middle].extentOffset <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

template <bool SCATTER>
__device__ __forceinline__ void move(const Layer* layers, u32 firstLayer, u32 layerCount, const Entry* entries,
                                     const Inline& inlined, u32 entryCount, u8* slot, u64* sums) {
  __shared__ __align__(16) u64 table[CHUNK_WORDS];
  for (u32 j = threadIdx.x; j < CHUNK_WORDS; j += blockDim.x) table[j] = mix((j + 1) * STEP);
  __syncthreads();

  const u32 lastLayer = firstLayer + layerCount - 1;
  const u64 base = layers[firstLayer].extentOffset;
  const u64 end = layers[lastLayer].extentOffset + payloadBytes(layers[lastLayer]);
  const u32 firstChunk = u32(base / CHUNK_BYTES);
  const u32 chunks = u32((end + CHUNK_BYTES - 1) / CHUNK_BYTES) - firstChunk;
  const u32 lane = threadIdx.x % WARP;
  const u32 warps = gridDim.x * (blockDim.x / WARP);
  const u32 units = entryCount * chunks;

  for (u32 unit = (blockIdx.x * blockDim.x + threadIdx.x) / WARP; unit < units; unit += warps) {
    const u32 index = unit / chunks;
    const u64 n = firstChunk + unit % chunks;
    const u64 chunkBegin = n * CHUNK_BYTES, chunkEnd = chunkBegin + CHUNK_BYTES;
    const u64 key = mix(n * STEP + 0x243F6A8885A308D3ull);
    const u64 weight = mix(n * STEP + 0x13198A2E03707344ull) | 1;
    const Entry entry = entries != nullptr ? entries[index] : inlined.at[index];
    u8* const extent = slot + entry.slotOffset - base;  // where the extent's byte 0 would lie

    for (u32 at = layerAt(layers, firstLayer, layerCount, chunkBegin); at <= lastLayer; ++at) {
      const Layer layer = layers[at];
      if (layer.extentOffset >= chunkEnd) break;
      const u32 size = payloadBytes(layer);
      const u32 from = layer.extentOffset >= chunkBegin ? 0 : u32(chunkBegin - layer.extentOffset);
      const u32 to = u32(min(u64(size), chunkEnd - layer.extentOffset));
      if (from >= to) continue;
      u8* const page = reinterpret_cast<u8*>(layer.address + entry.pageIndex * layer.blockStride);
      const u32 firstWord = u32(layer.extentOffset + from - chunkBegin) / 8;
      u64 total =
          movePiece<SCATTER>(layer, page, extent + layer.extentOffset, from, to, firstWord, key, table, lane);
      if (sums != nullptr) {
        for (u32 other = WARP / 2; other > 0; other /= 2) total += __shfl_down_sync(~0u, total, other);
        if (lane == 0) atomicAdd(&sums[u64(index) * layerCount + (at - firstLayer)], weight * total);
      }
    }
  }
}

// The last block of the grid brings the sums to the host's mapped memory and leaves zeros, for the next launch.
__device__ __forceinline__ void giveSums(u64* sums, u64* hostSums, u32* finished, u32 count) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
      hostSums[i] = __ldcg(&sums[i]);
      sums[i] = 0;
    }
  }
}

// The grid is the caller's choice: blocks of a multiple of 32 threads, at most 512. The entries are those at `entries` on the
// device, or where that is null the first of `inlined`. `sums` has entryCount * layerCount zeros and `finished` one, and they
// have again afterwards; the sums are then in `hostSums`, entry by entry. Where `sums` is null nothing is summed up.
extern "C" __global__ void __launch_bounds__(512, 2)
    orbitkv_scatter(const Layer* layers, u32 firstLayer, u32 layerCount, const Entry* entries, u32 entryCount,
                    const u8* slot, u64* sums, u64* hostSums, u32* finished, const __grid_constant__ Inline inlined) {
  move<true>(layers, firstLayer, layerCount, entries, inlined, entryCount, const_cast<u8*>(slot), sums);
  if (sums != nullptr) giveSums(sums, hostSums, finished, entryCount * layerCount);
}

extern "C" __global__ void __launch_bounds__(512, 2)
    orbitkv_gather(const Layer* layers, u32 firstLayer, u32 layerCount, const Entry* entries, u32 entryCount, u8* slot,
                   u64* sums, u64* hostSums, u32* finished, const __grid_constant__ Inline inlined) {
  move<false>(layers, firstLayer, layerCount, entries, inlined, entryCount, slot, sums);
  if (sums != nullptr) giveSums(sums, hostSums, finished, entryCount * layerCount);
}

// Before them, where there are more entries than travel with a launch: brings them, as 64-bit words, from the host's mapped
// memory. A copy by the driver would stand behind the Manager's large ones in the queue of the same copy engine.
extern "C" __global__ void __launch_bounds__(256) orbitkv_begin(const u64* hostEntries, u64* entries, u32 words) {
  const u32 threads = gridDim.x * blockDim.x;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += threads) entries[i] = hostEntries[i];
}
