# SPDX-License-Identifier: Apache-2.0
# Copyright the warpmeter authors
# CUDA 13 with C++20 on CMake 3.25, the shared runtime, and embedded plain PTX, so that one binary runs on a GPU or an emulated one.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "No CUDA compiler found. Run scripts/setup (it fetches CUDA 13.0), set CUDACXX to an nvcc, or configure with -DWARPMETER_CUDA=OFF.")
endif()
# One PTX entry (compute_80: runs anywhere, and on the emulated GPU) and machine code for the GPUs that the audit reads.
set(CMAKE_CUDA_ARCHITECTURES 80-virtual 80-real 90a-real 100a-real CACHE STRING "GPU architectures of plain kernels")
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
enable_language(CUDA)
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know nvcc's flag
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
find_package(CUDAToolkit 13.0 REQUIRED)

# Flags of every target that holds device code.
add_library(device_code INTERFACE)
target_compile_options(device_code INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=none --Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
