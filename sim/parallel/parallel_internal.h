// SPDX-License-Identifier: MIT
// Decides when shards may process a window without the order of events across shards.
#pragma once

#include "sim/parallel/parallel.h"

/* tile_choice.c */
// The cut of a simulation into tiles for its threads: one tile for each, or several where the
// network is larger than a processor's cache.
struct shards_cut parallel_tiles(struct parallel *parallel);

/* parallel.c */
// Note what limits the number of threads, or of processes times threads, or what the cut costs;
// `wanted`: parts that were requested.
void parallel_note_cut(struct parallel *parallel, uint32_t wanted, const struct cut_result *cut);

/* quiet.c */
// The order that events before `until_ps` need: of instants if all messages may have ended, or a
// flow may fail; of events if ranks may begin a phase for which they queue.
enum shards_order quiet_order(struct parallel *parallel, ps_t until_ps);

// The facts about this process that the other processes need before a window; shards_hooks.facts.
struct process_facts quiet_facts(void *parallel);

// The functions of delivery_watch: a message has been posted, or has failed.
void quiet_posted(void *parallel, const struct transfer_request *request, ps_t now);
void quiet_failed(void *parallel);
