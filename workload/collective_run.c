// SPDX-License-Identifier: MIT
// Steps of a stepped program as messages arrive. A rank starts the next repeat when its own part of
// this one is done, as kernels on a stream do; no barrier is added between ranks.
#include "workload/collective_run.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

// One rank in one chunk of one repeat.
struct walk {
    uint32_t step;
    uint32_t arrived;    // of this step
    uint32_t early_base; // step of early[0]
    uint32_t n_early;
    uint32_t *early; // arrivals of later steps: early[s - early_base]
};

#define REPEATS_OPEN 2 // a rank is at most one repeat ahead of another that it needs

struct collective_run {
    struct job_run *job;
    const struct coll_algorithm *algorithm;
    uint32_t ranks;
    uint32_t chunks;
    uint32_t *repeat;      // [rank] the one it is in
    uint32_t *chunks_left; // [rank]
    struct walk *walks;    // [(repeat % REPEATS_OPEN) * chunks * ranks + chunk * ranks + rank]
    size_t *record;        // [repeat % REPEATS_OPEN] index of its collective_record
};

// Messages carry, below the job, the walk they go to and its step: walk 28 bits, step 20.
static uint64_t token_of(uint32_t job, size_t walk, uint32_t step)
{
    return (uint64_t)job << TOKEN_JOB_SHIFT | (uint64_t)walk << 20 | step;
}

struct coll_shape job_chunk_shape(const struct job_spec *job, uint32_t n_ranks, uint64_t c)
{
    return (struct coll_shape){.op = (enum coll_op)job->op,
                               .ranks = job_n_ranks(job, n_ranks),
                               .bytes = job->bytes * (c + 1) / job->chunks -
                                        job->bytes * c / job->chunks,
                               .bidirectional = job->ring_directions == 2};
}

static struct coll_shape shape_of(const struct collective_run *run, uint32_t chunk)
{
    return job_chunk_shape(run->job->spec, run->job->workload->n_ranks, chunk);
}

struct collective_run *collective_run_new(struct job_run *job, uint32_t n_ranks)
{
    struct collective_run *run = memory_zeroed(1, sizeof *run);
    run->job = job;
    run->algorithm = job->spec->algorithm;
    run->ranks = job_n_ranks(job->spec, n_ranks);
    run->chunks = (uint32_t)job->spec->chunks;
    run->repeat = memory_zeroed(run->ranks, sizeof *run->repeat);
    run->chunks_left = memory_zeroed(run->ranks, sizeof *run->chunks_left);
    run->walks = memory_zeroed((size_t)REPEATS_OPEN * run->chunks * run->ranks, sizeof *run->walks);
    run->record = memory_zeroed(REPEATS_OPEN, sizeof *run->record);
    return run;
}

void collective_run_free(struct collective_run *run)
{
    if (!run)
        return;
    for (size_t i = 0; i < (size_t)REPEATS_OPEN * run->chunks * run->ranks; i++)
        free(run->walks[i].early);
    free(run->walks);
    free(run->repeat);
    free(run->chunks_left);
    free(run->record);
    free(run);
}

static size_t walk_index(const struct collective_run *run, uint32_t repeat, uint32_t chunk,
                         uint32_t rank)
{
    return ((size_t)(repeat % REPEATS_OPEN) * run->chunks + chunk) * run->ranks + rank;
}

static void note_arrival(struct walk *walk, uint32_t step)
{
    if (step == walk->step) {
        walk->arrived++;
        return;
    }
    if (step - walk->early_base >= walk->n_early) {
        uint32_t n = walk->n_early ? walk->n_early * 2 : 4;
        while (n <= step - walk->early_base)
            n *= 2;
        walk->early = memory_resize(walk->early, n, sizeof *walk->early);
        memset(walk->early + walk->n_early, 0, (n - walk->n_early) * sizeof *walk->early);
        walk->n_early = n;
    }
    walk->early[step - walk->early_base]++;
}

// Move to the next step and take what had come for it.
static void next_step(struct walk *walk)
{
    walk->step++;
    walk->arrived = 0;
    uint32_t at = walk->step - walk->early_base;
    if (at >= walk->n_early) { // all that came early is used up
        walk->early_base = walk->step;
        return;
    }
    walk->arrived = walk->early[at];
    walk->early[at] = 0;
    if (2 * at >= walk->n_early) { // slide the window, so that it stays as long as ranks run ahead
        memmove(walk->early, walk->early + at, (walk->n_early - at) * sizeof *walk->early);
        memset(walk->early + (walk->n_early - at), 0, at * sizeof *walk->early);
        walk->early_base = walk->step;
    }
}

static void issue(struct collective_run *run, uint32_t rank, uint32_t chunk, uint32_t step,
                  ps_t now)
{
    struct coll_shape shape = shape_of(run, chunk);
    const struct job_spec *spec = run->job->spec;
    uint32_t n = run->algorithm->n_sends(&shape, rank, step);
    for (uint32_t k = 0; k < n; k++) {
        struct coll_send send = run->algorithm->send(&shape, rank, step, k);
        size_t walk = walk_index(run, run->repeat[rank], chunk, send.peer);
        struct transfer_request request = {
            .src = job_rank(spec, rank),
            .dst = job_rank(spec, send.peer),
            .bytes = send.bytes,
            .job = run->job->index,
            .cls = spec->cls,
            .hint = {.fan_in = run->algorithm->n_recvs(&shape, send.peer, send.peer_step),
                     .fan_out = n,
                     .step = step,
                     .steps = run->algorithm->steps(&shape)},
            .token = token_of(run->job->index, walk, send.peer_step),
        };
        workload_post(run->job->workload, &request, now);
    }
}

static void chunk_done(struct collective_run *run, uint32_t rank, ps_t now)
{
    if (--run->chunks_left[rank] > 0)
        return;
    struct workload *w = run->job->workload;
    struct collective_record *record = &w->records[run->record[run->repeat[rank] % REPEATS_OPEN]];
    record->ranks_done++;
    if (record->ranks_done == run->ranks)
        record->end_ps = now;
    if (++run->repeat[rank] == run->job->spec->repeat)
        workload_unit_ended(w, run->job);
}

// Walk on while the receives of the current step are there.
static void advance(struct collective_run *run, uint32_t rank, uint32_t chunk, ps_t now)
{
    struct coll_shape shape = shape_of(run, chunk);
    struct walk *walk = &run->walks[walk_index(run, run->repeat[rank], chunk, rank)];
    uint32_t steps = run->algorithm->steps(&shape);
    while (walk->step < steps &&
           walk->arrived == run->algorithm->n_recvs(&shape, rank, walk->step)) {
        next_step(walk);
        if (walk->step < steps)
            issue(run, rank, chunk, walk->step, now);
    }
    if (walk->step == steps) {
        walk->step = walk->arrived = walk->early_base = 0; // ready for the repeat after the next
        if (walk->early)
            memset(walk->early, 0, walk->n_early * sizeof *walk->early);
        chunk_done(run, rank, now);
    }
}

static void rank_starts_repeat(struct collective_run *run, uint32_t rank, ps_t now)
{
    struct workload *w = run->job->workload;
    uint32_t repeat = run->repeat[rank];
    size_t *slot = &run->record[repeat % REPEATS_OPEN];
    if (w->n_records == 0 || w->records[*slot].job != run->job->index ||
        w->records[*slot].repeat != repeat) {
        if (w->n_records == w->cap_records)
            w->records = memory_grow(w->records, &w->cap_records, sizeof *w->records);
        *slot = w->n_records++;
        w->records[*slot] = (struct collective_record){
            .job = run->job->index, .repeat = repeat, .start_ps = now, .end_ps = PS_NEVER};
    }
    run->chunks_left[rank] = run->chunks;
    for (uint32_t chunk = 0; chunk < run->chunks && run->repeat[rank] == repeat; chunk++) {
        struct coll_shape shape = shape_of(run, chunk);
        if (run->algorithm->steps(&shape) > 0)
            issue(run, rank, chunk, 0, now);
        advance(run, rank, chunk, now);
    }
}

// Begin repeats until one has to wait for messages (a loop: a rank alone never waits).
static void rank_goes_on(struct collective_run *run, uint32_t rank, ps_t now)
{
    while (run->chunks_left[rank] == 0 && run->repeat[rank] < run->job->spec->repeat)
        rank_starts_repeat(run, rank, now);
}

void collective_run_start(struct collective_run *run, uint32_t rank, ps_t now)
{
    rank_goes_on(run, rank, now);
}

void collective_run_delivered(struct collective_run *run, uint64_t token, ps_t now)
{
    size_t index = (size_t)(token >> 20 & 0xfffffff);
    uint32_t step = (uint32_t)(token & 0xfffff);
    struct walk *walk = &run->walks[index];
    uint32_t rank = (uint32_t)(index % run->ranks);
    uint32_t chunk = (uint32_t)(index / run->ranks % run->chunks);
    note_arrival(walk, step);
    // A message may come before its rank has begun that repeat: it waits in the walk.
    bool begun =
        run->chunks_left[rank] > 0 && index == walk_index(run, run->repeat[rank], chunk, rank);
    if (begun) {
        advance(run, rank, chunk, now);
        rank_goes_on(run, rank, now);
    }
}

uint64_t collective_run_bytes(const struct collective_run *run)
{
    uint64_t bytes = 0;
    for (uint32_t chunk = 0; chunk < run->chunks; chunk++) {
        struct coll_shape shape = shape_of(run, chunk);
        for (uint32_t rank = 0; rank < run->ranks; rank++)
            bytes += coll_bytes_sent(run->algorithm, &shape, rank);
    }
    return bytes * run->job->spec->repeat;
}
