# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
# CUPTI's headers and library: the toolkit's, or the wheel's in build/venv.
file(GLOB cupti_wheel ${WARPMETER_VENV}/lib/python3*/site-packages/nvidia/cu13)
set(cupti_roots ${CUDAToolkit_TARGET_DIR} $ENV{CUDA_HOME} /usr/local/cuda ${cupti_wheel})
find_path(CUPTI_INCLUDE_DIR cupti_profiler_host.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${cupti_roots} PATH_SUFFIXES include extras/CUPTI/include)
# NVTX has headers only.
find_path(NVTX_INCLUDE_DIR nvtx3/nvToolsExtPayload.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${cupti_roots} PATH_SUFFIXES include)
find_file(CUPTI_LIBRARY libcupti.so.13 HINTS ${CUDAToolkit_LIBRARY_DIR} ${cupti_roots} PATH_SUFFIXES lib64 lib extras/CUPTI/lib64)
