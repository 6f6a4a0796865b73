// SPDX-License-Identifier: MIT
// The command line of this process as one line for a shell, which run.json and reports show.
#pragma once

void invocation_keep(int argc, char **argv);

// "collwire run s.json --seed 2"; "" before invocation_keep().
const char *invocation_text(void);
