// What passes between a board in host memory and the device, by kernels: copies by the copy engine would take turns with
// the Manager's, which are much longer. The host's memory is pinned and mapped.
// nvcc -ptx -arch=compute_80 -O3 -o - board.cu | sed 's/^\.version .*/.version 7.0/' > ../resources/io/orbitkv/ffi/cuda/board.ptx

typedef unsigned int u32;
typedef unsigned long long u64;

// Brings the entries of a work to the device and clears its sums.
extern "C" __global__ void orbitkv_take(const u64* host, u64* device, u32 words, u64* sums, u32 sumCount) {
  const u32 step = gridDim.x * blockDim.x;
  const u32 first = blockIdx.x * blockDim.x + threadIdx.x;
  for (u32 i = first; i < words; i += step) device[i] = host[i];
  for (u32 i = first; i < sumCount; i += step) sums[i] = 0;
}

// Brings its sums to the host.
extern "C" __global__ void orbitkv_give(const u64* device, u64* host, u32 words) {
  const u32 step = gridDim.x * blockDim.x;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step) host[i] = device[i];
}
