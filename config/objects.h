// SPDX-License-Identifier: MIT
// The objects at the top of a scenario.
#pragma once

#include "config/object.h"

extern const struct object topology_object, switch_object, transport_object, cc_object,
    workload_object, faults_object, routes_object, capture_object, report_object, limits_object;
