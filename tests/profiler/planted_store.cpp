// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Writes the planted profile for tests of the program. Argument: the file.
#include "tests/profiler/planted.h"

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  warpmeter::write_planted_store(argv[1]);
  return 0;
}
