// SPDX-License-Identifier: MIT
// A scripted trial of a policy without a network: flows on several lines with every preset live
// through messages, ACKs with short and long round trips, marks and telemetry, losses, timers and
// idle time.
#pragma once

#include "cc/cc.h"

// Call the hooks of `ops`, a guard. Returns 0, or -1 with the first violation as an error at
// `path`.
int trial_run(const struct cc_ops *ops, const char *path, struct err *err);
