// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>

namespace warpmeter {

// If the options before the command hold --emulate CHIP, starts this program again on that emulated
// GPU and does not return: the loader must find the substitute runtime before anything uses CUDA.
// Returns if there is no such option, or if this is the program so started. Throws InputError for
// an unknown chip and where the substitute runtime was not built.
void start_emulated(int argc, char** argv);

// Makes the emulated GPU's driver and CUPTI those of this process, by their files: the loader does
// not find their folder, so that planning goes on with the real CUPTI. Throws InputError if they
// were not built.
void load_emulated_driver();

// Where they are.
std::filesystem::path emulated_driver_folder();

// True in a program that runs under the emulated GPU.
bool emulation_asked_for();

}  // namespace warpmeter
