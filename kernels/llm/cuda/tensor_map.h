// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/llm/element.h"

namespace warpmeter {

// How tensor copies see the row-major matrix [rows, columns] at device pointer `matrix`: in boxes
// of `box_rows` (at most 256) rows of 128 bytes, swizzled over 128 bytes. What lies beyond the
// matrix reads as zero and is not written. A row must be a multiple of 16 bytes, `matrix` aligned
// to 16. e4m3 and int8 are copied as bytes. The driver's encoder is asked for at run time, so that
// nothing links the driver. Throws std::runtime_error if the driver has none or refuses.
CUtensorMap matrix_map(Element type, const void* matrix, std::int64_t rows, std::int64_t columns,
                       int box_rows);

// The same of a tensor [sequences, rows, columns]: what lies beyond the rows of a sequence reads as
// zero, too, and is not written.
CUtensorMap sequences_map(Element type, const void* tensor, std::int64_t sequences,
                          std::int64_t rows, std::int64_t columns, int box_rows);

}  // namespace warpmeter
