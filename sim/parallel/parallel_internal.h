// SPDX-License-Identifier: MIT
// Decides when shards may process a window without the order of events across shards.
#pragma once

#include "sim/parallel/parallel.h"

// True if all messages may have ended before `until_ps`, or if a flow may fail.
bool quiet_possible(struct parallel *parallel, ps_t until_ps);

// The functions of delivery_watch: a message has been posted, or has failed.
void quiet_posted(void *parallel, const struct transfer_request *request, ps_t now);
void quiet_failed(void *parallel);
