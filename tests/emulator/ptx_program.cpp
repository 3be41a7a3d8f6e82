// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/emulator/ptx_program.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace {

template <typename T>
void put(std::vector<std::byte>& to, std::size_t at, T value) {
  std::memcpy(&to[at], &value, sizeof value);
}

// A fat binary with one entry of plain PTX.
std::vector<std::byte> wrap(const std::string& text) {
  constexpr std::size_t blob_header = 16;
  constexpr std::size_t entry_header = 64;
  const std::size_t payload = (text.size() + 1 + 7) / 8 * 8;
  std::vector<std::byte> image(blob_header + entry_header + payload);
  put<std::uint32_t>(image, 0, 0xba55ed50);
  put<std::uint16_t>(image, 4, 1);
  put<std::uint16_t>(image, 6, blob_header);
  put<std::uint64_t>(image, 8, entry_header + payload);
  put<std::uint16_t>(image, blob_header + 0, 1);
  put<std::uint32_t>(image, blob_header + 4, entry_header);
  put<std::uint64_t>(image, blob_header + 8, payload);
  put<std::uint32_t>(image, blob_header + 28, 80);
  put<std::uint64_t>(image, blob_header + 56, text.size() + 1);
  std::memcpy(&image[blob_header + entry_header], text.data(), text.size());
  return image;
}

void keep(const std::string& text, const std::string& target) {
  const char* directory = std::getenv("EMULATOR_PTX_DIR");
  if (directory == nullptr) return;
  static int count = 0;
  std::ofstream(std::string(directory) + "/" + std::to_string(count++) + "." + target + ".ptx")
      << text;
}

}  // namespace

PtxProgram::PtxProgram(const std::string& target, int parameters, const std::string& body,
                       const std::string& before) {
  std::string text =
      ".version 9.0\n.target " + target + "\n.address_size 64\n" + before + ".visible .entry test(";
  for (int i = 0; i < parameters; ++i) {
    text += (i > 0 ? ", " : "") + (".param .u64 p" + std::to_string(i));
  }
  text += ")\n{\n" + body + "\nret;\n}\n";
  keep(text, target);
  image_ = wrap(text);
  cudaLibrary_t library = nullptr;
  loaded_ = cudaLibraryLoadData(&library, image_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (loaded_ == cudaSuccess) loaded_ = cudaLibraryGetKernel(&kernel_, library, "test");
}

cudaError_t PtxProgram::start(dim3 grid, dim3 block, const std::vector<const void*>& arguments,
                              unsigned shared) const {
  std::vector<void*> places;
  for (const void* const& argument : arguments) {
    places.push_back(const_cast<void*>(static_cast<const void*>(&argument)));
  }
  return cudaLaunchKernel(kernel_, grid, block, places.data(), shared, nullptr);
}

cudaError_t PtxProgram::run(dim3 grid, dim3 block, const std::vector<const void*>& arguments,
                            unsigned shared) const {
  const cudaError_t error = start(grid, block, arguments, shared);
  return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}
