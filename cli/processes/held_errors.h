// SPDX-License-Identifier: MIT
// What a process prints on stderr before all have agreed, held back for process 0 to print.
#pragma once

// Keep what is written to stderr in memory from now on. If the program aborts, it is printed.
void held_errors_begin(void);
// Returns what has been written to stderr since then; "" if nothing has.
const char *held_errors_text(void);
// Print what is written to stderr again, but not what has been kept.
void held_errors_end(void);
