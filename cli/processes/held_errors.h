// SPDX-License-Identifier: MIT
// What a process prints on stderr before all have agreed, held back for process 0 to print.
#pragma once

// From now on stderr is held. If the program aborts, it is printed after all.
void held_errors_begin(void);
// What was held so far; "" if nothing was.
const char *held_errors_text(void);
// stderr is printed again; what was held is dropped.
void held_errors_end(void);
