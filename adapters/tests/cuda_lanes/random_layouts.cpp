// Runs gather and scatter over random layouts and compares every byte and sum with a plain reading of docs/checksum.md.
// Arguments: a seed and a number of layouts. The kernels' source is named by -DPAGES_CU.
#include "lanes.hpp"
#include PAGES_CU

struct Case {
  unsigned seed;
  int number;
};

[[noreturn]] void fail(const Case& at, const char* what) {
  std::printf("%s differ, seed %u, layout %d\n", what, at.seed, at.number);
  std::exit(1);
}

u64 plainSum(const u8* data, u64 length, u64 position) {
  u64 total = 0;
  for (u64 at = 0; at < length; at += 8) {
    u64 word = 0;
    std::memcpy(&word, data + at, std::min<u64>(8, length - at));
    const u64 i = (position + at) / 8, n = i / 512, j = i % 512;
    const u64 x = word + mix((j + 1) * STEP) + mix(n * STEP + 0x243F6A8885A308D3ull);
    total += (mix(n * STEP + 0x13198A2E03707344ull) | 1) * ((x & 0xFFFFFFFF) * (x >> 32) + word);
  }
  return total;
}

template <typename Kernel>
void launch(unsigned blocks, Kernel kernel) {
  gridDim.x = blocks;
  for (unsigned block = 0; block < blocks; ++block) {
    std::vector<std::thread> lanes;
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes.emplace_back([=] {
        threadIdx.x = lane;
        blockIdx.x = block;
        kernel();
      });
    for (auto& lane : lanes) lane.join();
  }
}

void fillRandom(std::vector<u8>& bytes, std::mt19937& random) {
  for (auto& byte : bytes) byte = u8(random());
}

// Layers of random shapes: closed blocks or planes, any alignment.
struct Engine {
  std::vector<Layer> layers;
  std::vector<std::vector<u8>> memory;

  Engine(std::mt19937& random, u32 blocks) {
    const u32 count = 1 + random() % 6;
    u64 extent = 0;
    for (u32 i = 0; i < count; ++i) {
      const u32 units[] = {16, 8, 4, 1, 64, 2};
      const u32 unit = units[random() % 6];
      const u32 segments = random() % 3 ? 1 + random() % 5 : 1;
      const u32 bytes = random() % 4 ? unit * (1 + random() % 600) : 4096 * (1 + random() % 3);
      const u64 gap = unit * (random() % 3), gap2 = unit * (random() % 3);
      const bool planes = random() % 2;
      const u64 blockStride = planes ? bytes + gap : (bytes + gap) * segments + gap2;
      const u64 segmentStride = planes ? blockStride * blocks + gap2 : bytes + gap;
      memory.emplace_back((blocks - 1) * blockStride + (segments - 1) * segmentStride + bytes + 192);
      fillRandom(memory.back(), random);
      const u64 address = (reinterpret_cast<u64>(memory.back().data()) + 63) / 64 * 64 + (random() % 2 ? 0 : unit);
      layers.push_back({address, blockStride, segmentStride, segments, bytes, extent});
      extent = (extent + u64(segments) * bytes + 63) / 64 * 64;
    }
  }

  u32 size(u32 layer) const { return layers[layer].segmentCount * layers[layer].segmentBytes; }

  u8& at(std::vector<std::vector<u8>>& in, u32 layer, u32 page, u32 byte) const {
    const Layer& l = layers[layer];
    const u64 address = l.address + page * l.blockStride + byte / l.segmentBytes * l.segmentStride + byte % l.segmentBytes;
    return in[layer][address - reinterpret_cast<u64>(memory[layer].data())];
  }
};

void run(const Case& here, std::mt19937& random) {
  const u32 blocks = 2 + random() % 5;
  Engine engine(random, blocks);
  const auto& layers = engine.layers;
  const u32 first = random() % layers.size(), count = 1 + random() % (layers.size() - first);
  const u64 base = layers[first].extentOffset;
  const u64 piece = (layers[first + count - 1].extentOffset + engine.size(first + count - 1) - base + 63) / 64 * 64;

  std::vector<u32> pages(blocks);
  for (u32 i = 0; i < blocks; ++i) pages[i] = i;
  std::shuffle(pages.begin(), pages.end(), random);
  const u32 entryCount = 1 + random() % blocks;
  std::vector<Entry> entries;
  u64 used = 0;
  for (u32 i = 0; i < entryCount; ++i) {
    used += 64 * (random() % 2);
    entries.push_back({pages[i], 0, used});
    used += piece;
  }
  std::vector<u8> room(used + 128);
  fillRandom(room, random);
  u8* const slot = reinterpret_cast<u8*>((reinterpret_cast<u64>(room.data()) + 63) / 64 * 64);
  const u64 slotAt = slot - room.data();
  std::vector<u64> sums(entryCount * count), hostSums(entryCount * count), expectedSums(entryCount * count);
  const std::vector<u64> zeros(entryCount * count);
  u32 finished = 0;
  Inline inlined;
  std::memset(&inlined, 0xEE, sizeof inlined);
  const bool travel = random() % 2;
  if (travel) std::copy(entries.begin(), entries.end(), inlined.at);
  const Entry* const there = travel ? nullptr : entries.data();

  // Gather: pages stay, the slot gets each layer and zeros to the end of its last word.
  auto expected = room;
  const auto before = engine.memory;
  for (u32 i = 0; i < entryCount; ++i)
    for (u32 l = first; l < first + count; ++l) {
      std::vector<u8> bytes((engine.size(l) + 7) / 8 * 8);
      for (u32 byte = 0; byte < engine.size(l); ++byte) bytes[byte] = engine.at(engine.memory, l, entries[i].pageIndex, byte);
      std::memcpy(&expected[slotAt + entries[i].slotOffset + layers[l].extentOffset - base], bytes.data(), bytes.size());
      expectedSums[i * count + l - first] = plainSum(bytes.data(), engine.size(l), layers[l].extentOffset);
    }
  launch(1 + random() % 3, [&] {
    orbitkv_gather(layers.data(), first, count, there, entryCount, slot, sums.data(), hostSums.data(), &finished, inlined);
  });
  if (engine.memory != before) fail(here, "pages after a gather");
  if (room != expected) fail(here, "gathered bytes");
  if (hostSums != expectedSums) fail(here, "gathered sums");
  if (sums != zeros || finished != 0) fail(here, "what a gather leaves for the next");

  // Scatter: the slot stays, pages get their layers and nothing beside them.
  fillRandom(room, random);
  const auto roomBefore = room;
  auto expectedPages = engine.memory;
  for (u32 i = 0; i < entryCount; ++i)
    for (u32 l = first; l < first + count; ++l) {
      const u8* bytes = slot + entries[i].slotOffset + layers[l].extentOffset - base;
      for (u32 byte = 0; byte < engine.size(l); ++byte) engine.at(expectedPages, l, entries[i].pageIndex, byte) = bytes[byte];
      expectedSums[i * count + l - first] = plainSum(bytes, engine.size(l), layers[l].extentOffset);
    }
  launch(1 + random() % 3, [&] {
    orbitkv_scatter(layers.data(), first, count, there, entryCount, slot, sums.data(), hostSums.data(), &finished, inlined);
  });
  if (room != roomBefore) fail(here, "the slot after a scatter");
  if (engine.memory != expectedPages) fail(here, "scattered pages");
  if (hostSums != expectedSums) fail(here, "scattered sums");
  if (sums != zeros || finished != 0) fail(here, "what a scatter leaves for the next");
}

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const int layouts = argc > 2 ? std::atoi(argv[2]) : 100;
  std::mt19937 random(seed);
  for (int number = 0; number < layouts; ++number) run({seed, number}, random);
  std::printf("%d layouts\n", layouts);
}
