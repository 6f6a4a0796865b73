// SPDX-License-Identifier: MIT
// A result in which all fields have different values.
#pragma once

#include "sim/result/result.h"

extern struct flow_record whole_flows[];
extern struct training_result whole_training;

struct result whole(void);
