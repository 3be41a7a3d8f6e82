// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "core/measurement.h"
#include "core/work.h"
#include "model/bandwidth.h"
#include "model/machine.h"

namespace warpmeter {

// The time that one resource needs for a kernel's work if it works alone at its measured ceiling.
struct Resource {
  std::string name;  // "compute", "memory.l2"; on a GPU "tensor", "fma", "exp", "memory.dram"
  double time_s = 0;
  std::vector<Input> inputs;
};

// What one execution asks of a machine, from microbenchmark ceilings alone: nothing is fitted here.
struct Demand {
  std::vector<Resource> resources;
  double launches = 0;
  double launch_s = 0;               // of one launch
  std::vector<Input> inputs;         // of launch_s, elasticity 1
  std::vector<std::string> missing;  // what the machine lacks; empty if the rest is complete
};

// `parameters` are those of quantity kernel.time: family, type, threads (host), residency.
//
// Compute: operations over throughput.fma.<type>.<scope>.sustained. One host core executes all
// types on the same vector ports, so that their times add up into one resource. On a GPU the tensor
// pipe (throughput.mma.<type>.device; GEMMs and attention in types other than f32 and f64), the
// multiply-add pipe and the special function units are resources of their own.
//
// Exponentials: throughput.exp.<scope> where the machine has it, else as f32 multiply-add slots;
// exp_as_f32_ops says how many and why.
//
// GEMM traffic between inner levels is left out because it cannot bind: a register tile of 6 x 64
// f32 loads 0.36 B per operation from L1, and blocks that fill a 2 MiB L2 move 2 m n k / sqrt(2^19)
// elements from beyond it (Hong and Kung, STOC 1981), 0.006 B per operation, a small part of what
// each level delivers beside a full multiply-add pipe. What it costs nevertheless is part of the
// family's overhead.
Demand demand_of(const Machine& machine, const Work& work, const Parameters& parameters);

// Operations of f32 peak that one exponential displaces. Host: 40, as oneDNN's AVX-512 exponential
// (exp_compute_vector_fwd of its eltwise injector) is 20 micro-operations for the two vector ports,
// each in place of one multiply-add per lane. GPU: 16, as an SM delivers 16 special functions
// against 128 f32 multiply-adds per clock (CUDA C++ Programming Guide, arithmetic instructions).
double exp_as_f32_ops(const Machine& machine);

}  // namespace warpmeter
