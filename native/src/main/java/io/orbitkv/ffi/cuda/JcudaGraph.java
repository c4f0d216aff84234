package io.orbitkv.ffi.cuda;

import static io.orbitkv.ffi.cuda.JcudaDriver.check;

import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** A graph through JCuda. */
final class JcudaGraph implements CudaGraph {
  /** Only the capturing thread is held to what a capture allows: others may wait and allocate. */
  private static final int THREAD_LOCAL = 1;

  private final JcudaDevice device;
  final CUgraphExec executable;

  private JcudaGraph(JcudaDevice device, CUgraphExec executable) {
    this.device = device;
    this.executable = executable;
  }

  static JcudaGraph capture(JcudaDevice device, CUstream stream, Submission work)
      throws CudaException {
    device.enter();
    CUgraph graph = new CUgraph();
    check("cuStreamBeginCapture", JCudaDriver.cuStreamBeginCapture(stream, THREAD_LOCAL));
    try {
      work.run();
    } finally {
      check("cuStreamEndCapture", JCudaDriver.cuStreamEndCapture(stream, graph));
    }
    try {
      CUgraphExec executable = new CUgraphExec();
      check("cuGraphInstantiate", JCudaDriver.cuGraphInstantiate(executable, graph, 0));
      return new JcudaGraph(device, executable);
    } finally {
      check("cuGraphDestroy", JCudaDriver.cuGraphDestroy(graph));
    }
  }

  @Override
  public void close() throws CudaException {
    device.enter();
    check("cuGraphExecDestroy", JCudaDriver.cuGraphExecDestroy(executable));
  }
}
