// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace warpmeter {

// Makes SIGINT and SIGTERM set a flag instead of ending the process; a second signal ends it at
// once.
void catch_interrupts();
bool interrupted();

}  // namespace warpmeter
