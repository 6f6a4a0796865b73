// SPDX-License-Identifier: MIT
// A scenario in one line, for the head of a table.
#pragma once

// "64 ranks, switch of 8 x rail of 8 at 400Gbps: all_reduce of 16MB by ring", from a resolved
// scenario as JSON; to be freed.
char *scenario_headline(const char *resolved);
