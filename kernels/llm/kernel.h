// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/json.h"
#include "kernels/llm/flush.h"
#include "kernels/llm/operand.h"

namespace warpmeter {

// One kernel with its operands, filled with fresh data and ready to execute.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // One execution; complete on return.
  virtual void execute() = 0;

  // Compares the outputs of the last execution with a reference in double precision. Throws
  // std::runtime_error("corrupt: ...") naming the first element beyond its tolerance. Needs
  // unchanged inputs.
  virtual void verify() const = 0;

  // The memory that one execution reads or writes, scratch included: what `cold` flushes.
  virtual std::vector<Bytes> touched() const;

  // What the record says about the kernel: implementation, weights format, scratchpad, checks.
  virtual Json conditions() const { return Json::object(); }

  const std::deque<Operand>& operands() const { return operands_; }
  const Operand& operand(const std::string& name) const;  // Throws std::out_of_range.

 protected:
  Operand& add(Operand operand);  // The reference stays valid.

 private:
  std::deque<Operand> operands_;
};

}  // namespace warpmeter
