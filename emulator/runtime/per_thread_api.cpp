// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What programs call that are compiled with a default stream per thread: stream 0 is the thread's.
#include "emulator/runtime/api.h"
#include "emulator/runtime/call.h"

namespace {

cudaStream_t mine(cudaStream_t stream) { return stream == nullptr ? cudaStreamPerThread : stream; }

// Copies without a stream wait for their own only.
cudaError_t waited(cudaError_t error) {
  return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
}

}  // namespace

// A function with a stream; its form for a default stream per thread.
#define PER_THREAD_FORM(name, parameters, arguments, launch) \
  EMULATOR_API cudaError_t name##_ptsz parameters {          \
    const emulator::ApiCall api(#name "_ptsz", launch);      \
    return name arguments;                                   \
  }
#define PER_THREAD(name, parameters, arguments) PER_THREAD_FORM(name, parameters, arguments, {})
#define PER_THREAD_LAUNCH(name, parameters, arguments) \
  PER_THREAD_FORM(name, parameters, arguments, emulator::launch_call(f, g, b, n, mine(s)))
// A copy or fill without a stream, by way of the function with one.
#define PER_THREAD_WAITING(name, parameters, call)  \
  EMULATOR_API cudaError_t name##_ptds parameters { \
    const emulator::ApiCall api(#name "_ptds");     \
    return waited(call);                            \
  }

extern "C" {

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
EMULATOR_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                 void** args, std::size_t shared,
                                                 cudaStream_t stream) {
  const emulator::ApiCall api("__cudaLaunchKernel_ptsz",
                              emulator::launch_call(kernel, grid, block, shared, mine(stream)));
  return __cudaLaunchKernel(kernel, grid, block, args, shared, mine(stream));
}
EMULATOR_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config,
                                                  const void* function, void** args) {
  if (config == nullptr) return cudaLaunchKernelExC(config, function, args);
  cudaLaunchConfig_t own = *config;
  own.stream = mine(own.stream);
  const emulator::ApiCall api("cudaLaunchKernelExC_ptsz", emulator::launch_call(&own, function));
  return cudaLaunchKernelExC(&own, function, args);
}

// clang-format off
PER_THREAD_LAUNCH(cudaLaunchKernel, (const void* f, dim3 g, dim3 b, void** a, std::size_t n, cudaStream_t s), (f, g, b, a, n, mine(s)))
PER_THREAD_LAUNCH(cudaLaunchCooperativeKernel, (const void* f, dim3 g, dim3 b, void** a, std::size_t n, cudaStream_t s), (f, g, b, a, n, mine(s)))
PER_THREAD(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void* d), (mine(s), f, d))
PER_THREAD(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, mine(s)))
PER_THREAD(cudaEventRecordWithFlags, (cudaEvent_t e, cudaStream_t s, unsigned int f), (e, mine(s), f))
PER_THREAD_FORM(cudaGraphLaunch, (cudaGraphExec_t g, cudaStream_t s), (g, mine(s)), emulator::graph_call(g, mine(s)))
PER_THREAD(cudaGraphUpload, (cudaGraphExec_t g, cudaStream_t s), (g, mine(s)))
PER_THREAD(cudaMallocAsync, (void** p, std::size_t n, cudaStream_t s), (p, n, mine(s)))
PER_THREAD(cudaMallocFromPoolAsync, (void** p, std::size_t n, cudaMemPool_t m, cudaStream_t s), (p, n, m, mine(s)))
PER_THREAD(cudaFreeAsync, (void* p, cudaStream_t s), (p, mine(s)))
PER_THREAD(cudaMemPrefetchAsync, (const void* p, std::size_t n, cudaMemLocation l, unsigned int f, cudaStream_t s), (p, n, l, f, mine(s)))
PER_THREAD(cudaMemcpyAsync, (void* t, const void* f, std::size_t n, cudaMemcpyKind k, cudaStream_t s), (t, f, n, k, mine(s)))
PER_THREAD(cudaMemcpy2DAsync, (void* t, std::size_t tp, const void* f, std::size_t fp, std::size_t w, std::size_t h, cudaMemcpyKind k, cudaStream_t s), (t, tp, f, fp, w, h, k, mine(s)))
PER_THREAD(cudaMemcpyToSymbolAsync, (const void* t, const void* f, std::size_t n, std::size_t o, cudaMemcpyKind k, cudaStream_t s), (t, f, n, o, k, mine(s)))
PER_THREAD(cudaMemcpyFromSymbolAsync, (void* t, const void* f, std::size_t n, std::size_t o, cudaMemcpyKind k, cudaStream_t s), (t, f, n, o, k, mine(s)))
PER_THREAD(cudaMemsetAsync, (void* p, int v, std::size_t n, cudaStream_t s), (p, v, n, mine(s)))
PER_THREAD(cudaMemset2DAsync, (void* p, std::size_t q, int v, std::size_t w, std::size_t h, cudaStream_t s), (p, q, v, w, h, mine(s)))
PER_THREAD(cudaStreamBeginCapture, (cudaStream_t s, cudaStreamCaptureMode m), (mine(s), m))
PER_THREAD(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t* g), (mine(s), g))
PER_THREAD(cudaStreamIsCapturing, (cudaStream_t s, cudaStreamCaptureStatus* c), (mine(s), c))
PER_THREAD(cudaStreamGetDevice, (cudaStream_t s, int* d), (mine(s), d))
PER_THREAD(cudaStreamGetFlags, (cudaStream_t s, unsigned int* f), (mine(s), f))
PER_THREAD(cudaStreamGetPriority, (cudaStream_t s, int* p), (mine(s), p))
PER_THREAD(cudaStreamQuery, (cudaStream_t s), (mine(s)))
PER_THREAD(cudaStreamSynchronize, (cudaStream_t s), (mine(s)))
PER_THREAD(cudaStreamSetAttribute, (cudaStream_t s, cudaStreamAttrID a, const cudaStreamAttrValue* v), (mine(s), a, v))
PER_THREAD(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned int f), (mine(s), e, f))
PER_THREAD(cudaGetDriverEntryPointByVersion, (const char* n, void** f, unsigned int v, unsigned long long g, cudaDriverEntryPointQueryResult* r), (n, f, v, g, r))
PER_THREAD_WAITING(cudaMemcpy, (void* t, const void* f, std::size_t n, cudaMemcpyKind k), cudaMemcpyAsync(t, f, n, k, cudaStreamPerThread))
PER_THREAD_WAITING(cudaMemcpy2D, (void* t, std::size_t tp, const void* f, std::size_t fp, std::size_t w, std::size_t h, cudaMemcpyKind k), cudaMemcpy2DAsync(t, tp, f, fp, w, h, k, cudaStreamPerThread))
PER_THREAD_WAITING(cudaMemcpyToSymbol, (const void* t, const void* f, std::size_t n, std::size_t o, cudaMemcpyKind k), cudaMemcpyToSymbolAsync(t, f, n, o, k, cudaStreamPerThread))
PER_THREAD_WAITING(cudaMemcpyFromSymbol, (void* t, const void* f, std::size_t n, std::size_t o, cudaMemcpyKind k), cudaMemcpyFromSymbolAsync(t, f, n, o, k, cudaStreamPerThread))
// Fills of device memory do not wait.
EMULATOR_API cudaError_t cudaMemset_ptds(void* p, int v, std::size_t n) { const emulator::ApiCall api("cudaMemset_ptds"); return cudaMemsetAsync(p, v, n, cudaStreamPerThread); }
EMULATOR_API cudaError_t cudaMemset2D_ptds(void* p, std::size_t q, int v, std::size_t w, std::size_t h) { const emulator::ApiCall api("cudaMemset2D_ptds"); return cudaMemset2DAsync(p, q, v, w, h, cudaStreamPerThread); }
// clang-format on

}  // extern "C"
