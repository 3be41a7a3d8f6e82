// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

namespace warpmeter {

// A CUptiResult: numbers, names and meaning from cupti_result.h of CUDA 13.0; remedies ours.
struct CuptiError {
  int code;
  const char* name;  // without the prefix CUPTI_ERROR_
  const char* meaning;
  const char* remedy;  // empty if there is none
};

// Ascending by code; CUPTI_SUCCESS is not in it.
const std::vector<CuptiError>& cupti_errors();

// Null for a code that CUPTI 13.0 does not have.
const CuptiError* find_cupti_error(int code);

// "CUPTI_ERROR_NOT_SUPPORTED (27)"; a code without a name: "CUPTI error 77".
std::string cupti_error_name(int code);

// The same with its meaning and remedy, one line.
std::string describe_cupti_error(int code);

}  // namespace warpmeter
