// SPDX-License-Identifier: MIT
// Reads parameter_server jobs: algorithms of groups, and numbers that must fit together.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "workload/read/group_algorithms.h"
#include "workload/read/job_reader.h"
#include "workload/training/parameter_server.h"

// Returns true if the ranks can be servers and groups of workers.
static bool check_ranks(struct reader *r, const struct place *place, const struct server_params *p,
                        uint32_t ranks)
{
    struct place servers = place_key(place, "servers"), groups = place_key(place, "groups");
    uint32_t workers = server_workers(p, ranks), n = server_groups(p, ranks);
    if (workers == 0) {
        place_error(r->err, &servers, "%llu servers leave none of the job's %u ranks for workers",
                    (unsigned long long)p->servers, ranks);
        return false;
    }
    if (workers % n == 0)
        return true;
    place_error(r->err, &groups, "%u workers cannot be divided into %u equal groups", workers, n);
    return false;
}

static void check_staleness(struct reader *r, const struct place *place,
                            const struct server_params *p)
{
    struct place staleness = place_key(place, "staleness");
    if (staleness.json != NULL && p->mode != SERVER_STALE)
        place_error(r->err, &staleness, "is used only with \"mode\": \"stale\"");
}

// Every group's leader exchanges messages with every server.
static bool check_pairs(struct reader *r, const struct place *place, const struct job_spec *job,
                        const struct server_params *p, uint32_t ranks)
{
    uint32_t workers = server_workers(p, ranks), size = workers / server_groups(p, ranks);
    for (uint32_t leader = 0; leader < workers; leader += size)
        for (uint32_t server = workers; server < ranks; server++)
            if (!pair_check(r, place, job, leader, server))
                return false;
    return true;
}

static void check_groups(struct reader *r, const struct place *place, const struct job_spec *job,
                         const struct server_settings *settings, uint32_t ranks)
{
    const struct server_params *p = &settings->params;
    struct place algorithm = place_key(place, "algorithm");
    uint32_t workers = server_workers(p, ranks), size = workers / server_groups(p, ranks);
    uint32_t *members = memory_zeroed(size, sizeof *members);
    struct coll_schedule s = group_schedule(&settings->choice, size);
    bool ok = true;
    for (uint32_t first = 0; first < workers && ok; first += size) {
        for (uint32_t m = 0; m < size; m++)
            members[m] = first + m;
        const struct place *at = algorithm.json != NULL ? &algorithm : place;
        struct coll_shape sum = {.op = COLL_ALL_REDUCE, .bytes = p->bytes},
                          spread = {.op = COLL_BROADCAST, .bytes = p->bytes};
        ok = group_check(r, at, job, &s, sum, members) &&
             group_check(r, at, job, &s, spread, members);
    }
    free(members);
}

static void read_parameter_server(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct server_settings *settings = job->settings;
    const struct server_params *p = &settings->params;
    map_ranks(r, place, job, &p->mapping);
    settings->choice.params = p->group;
    size_t errors = r->err->n_errors;
    group_algorithms_read(r, place, &settings->choice);
    check_staleness(r, place, p);
    uint32_t ranks = job_size(r, job);
    if (ranks == 0 || r->err->n_errors > errors || !check_ranks(r, place, p, ranks))
        return;
    if (check_pairs(r, place, job, p, ranks))
        check_groups(r, place, job, settings, ranks);
}

static void trim(json_t *json, const struct job_spec *job, const json_t *given)
{
    const struct server_settings *settings = job->settings;
    (void)given;
    if (settings->params.mode != SERVER_STALE)
        json_object_del(json, "staleness"); // check_staleness() refuses it
}

static const struct job_part server_parts[] = {
    GROUP_ALGORITHM_PARTS(struct server_settings, choice, "ring", "of the collectives in a group"),
    PARTS_END,
};
const struct job_reader parameter_server_reader = {
    .read = read_parameter_server,
    .parts = server_parts,
    .algorithms = offsetof(struct server_settings, choice.algorithms),
    .trim = trim,
};
