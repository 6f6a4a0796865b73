// SPDX-License-Identifier: MIT
// The exit codes of the program.
#pragma once

enum { EXIT_DONE = 0, EXIT_NOT_COMPLETED = 1, EXIT_BAD_USE = 2, EXIT_INTERRUPTED = 130 };
