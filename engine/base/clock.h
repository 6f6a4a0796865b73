// SPDX-License-Identifier: MIT
// The wall clock.
#pragma once

// Seconds of wall time since some fixed moment, by a clock that is never set back.
double monotonic_s(void);
