// Enough of CUDA to run a kernel's source as C++: the lanes of one warp are threads that meet at barriers, blocks run one
// after the other. Accesses that a GPU would refuse for their alignment end the program.
#pragma once
#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static
#define __align__(x) __attribute__((aligned(x)))

struct ulonglong2 {
  unsigned long long x, y;
};
struct Index {
  unsigned x;
};

inline thread_local Index threadIdx, blockIdx;
inline Index blockDim{32}, gridDim{1};
inline std::barrier<> meeting(32);
inline unsigned long long exchanged[32];

using std::max;
using std::min;

inline void __syncthreads() { meeting.arrive_and_wait(); }

inline unsigned long long __shfl_down_sync(unsigned, unsigned long long value, unsigned distance) {
  const unsigned lane = threadIdx.x;
  exchanged[lane] = value;
  meeting.arrive_and_wait();
  const unsigned long long other = lane + distance < 32 ? exchanged[lane + distance] : value;
  meeting.arrive_and_wait();
  return other;
}

inline unsigned long long atomicAdd(unsigned long long* sum, unsigned long long value) {
  const unsigned long long old = *sum;
  *sum += value;
  return old;
}

inline unsigned atomicInc(unsigned* counter, unsigned most) {
  const unsigned old = *counter;
  *counter = old >= most ? 0 : old + 1;
  return old;
}

inline void __threadfence() {}

template <typename T>
T* aligned(T* place) {
  if (reinterpret_cast<unsigned long long>(place) % sizeof(T)) {
    std::printf("an access of %zu bytes at %p\n", sizeof(T), static_cast<const void*>(place));
    std::_Exit(1);
  }
  return place;
}

template <typename T>
T __ldcs(const T* place) {
  return *aligned(place);
}

template <typename T>
T __ldcg(const T* place) {
  return *aligned(place);
}

template <typename T>
void __stcs(T* place, T value) {
  *aligned(place) = value;
}
