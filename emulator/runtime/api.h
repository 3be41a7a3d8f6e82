// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

// Marks what the library exports; the rest is hidden.
#define EMULATOR_API __attribute__((visibility("default")))
