// A kernel as a decode step has them, bound by the GPU's memory: reads all of some bytes. For `orbitkv bench gpu`.
// nvcc -ptx -arch=compute_80 -O3 -o - decode.cu | sed 's/^\.version .*/.version 7.0/' > ../resources/io/orbitkv/manager/bench/decode.ptx

extern "C" __global__ void orbitkv_decode(const uint4* data, unsigned long long vectors, unsigned int* out) {
  unsigned int x = 0;
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += step) {
    const uint4 v = data[i];
    x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (x == 0x9E3779B9) *out = x;  // keeps the reads
}
