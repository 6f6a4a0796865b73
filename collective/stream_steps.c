// SPDX-License-Identifier: MIT
// Ring, direct, and halving and doubling: a rank prepares messages, sends one that is prepared when
// the endpoint delay of any is over, and prepares one more for each that it has received.
//
//   ring     to the next rank; an all-to-all passes every block on from neighbour to neighbour, in
//            n(n-1)/2 messages
//   direct   to the ranks after it in turn, a window at a time; the second half of an all-reduce
//            begins when all of the first half has arrived
//   halving_doubling  n = 2^k; halves go to distance 1, 2 .. n/2 and come back in the reverse
//            order; an all-gather doubles from distance n/2 to 1
//
// Messages are prepared in cycles: the first `plain` of a cycle without adding, the next `added`
// with adding what was received, in an all-reduce only in every other cycle. So halving adds k - 1
// times, each time the size of the message that it sends next.
#include <string.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/grid.h"
#include "collective/stream_internal.h"

static bool uses(const struct stream_phase *phase, const char *algorithm)
{
    return strcmp(phase->choice->algorithm->name, algorithm) == 0;
}

static uint32_t log2_of(uint32_t n)
{
    uint32_t k = 0;
    while (n >>= 1)
        k++;
    return k;
}

static void halving_begin(struct stepper *step, const struct stream_phase *phase)
{
    uint32_t k = log2_of(step->n);
    step->total = phase->op == COLL_ALL_REDUCE ? 2 * k : k;
    step->added = k - 1;
    step->growing = phase->op == COLL_ALL_GATHER;
    step->distance = step->growing ? step->n / 2 : 1;
    step->bytes = step->growing ? phase->bytes : phase->bytes / 2;
}

static void direct_begin(struct stepper *step, const struct stream_phase *phase, bool local)
{
    const struct coll_direct_params *params = (const void *)phase->choice->params;
    uint32_t others = step->n - 1;
    step->window = params->in_flight < others ? (uint32_t)params->in_flight : others;
    step->added = local ? others * step->window : step->window;
    // Direct messages go straight to their receivers, while a ring passes them on.
    if (phase->op == COLL_ALL_TO_ALL)
        step->total = others;
}

void stream_steps_begin(struct stream *s)
{
    const struct coll_schedule *schedule = &s->set->comm->schedule;
    const struct stream_phase *phase = stream_phase(s);
    uint32_t n = coll_group_size(schedule, phase->dim), others = n - 1;
    s->step = (struct stepper){.n = n,
                               .index = coll_member_of(schedule, phase->dim, s->set->member),
                               .total = others,
                               .window = 1,
                               .added = others,
                               .bytes = phase->bytes};
    struct stepper *step = &s->step;
    if (phase->op != COLL_ALL_GATHER)
        step->bytes /= n;
    if (phase->op == COLL_ALL_REDUCE)
        step->total = 2 * others;
    if (phase->op == COLL_ALL_TO_ALL)
        // A block for the rank h hops away is sent h times: 1 + 2 + .. + (n - 1) messages.
        step->total = (uint32_t)((uint64_t)n * others / 2);
    if (uses(phase, "halving_doubling"))
        halving_begin(step, phase);
    else if (uses(phase, "direct"))
        direct_begin(step, phase, schedule->streams.local);
    step->plain = step->window;
}

/* ---- messages ---- */

// Returns the receiver of message `i`, or (`back`) the sender of the message expected with it.
static uint32_t peer_of(const struct stream *s, uint32_t i, uint32_t distance, bool back)
{
    const struct stepper *step = &s->step;
    if (uses(stream_phase(s), "halving_doubling"))
        return step->index ^ distance;
    uint32_t hops = uses(stream_phase(s), "direct") ? 1 + i % (step->n - 1) : 1;
    bool down = stream_phase(s)->anticlockwise != back;
    return (step->index + (down ? step->n - hops : hops)) % step->n;
}

// The size of message `i` and the distance to its receiver, where they change from message to
// message.
static void halving_at(const struct stream *s, uint32_t i, uint64_t *bytes, uint32_t *distance)
{
    struct stepper step = s->step;
    halving_begin(&step, stream_phase(s));
    bool returns = stream_phase(s)->op == COLL_ALL_REDUCE;
    while (i-- > 0) {
        step.bytes = step.growing ? step.bytes * 2 : step.bytes / 2;
        step.distance = step.growing ? step.distance / 2 : step.distance * 2;
        // The turn: the first message on the way back has the distance and size of the last one on
        // the way there, so the step beyond it is undone.
        if (step.distance == step.n && returns) {
            step.growing = true;
            step.bytes *= 2;
            step.distance /= 2;
        }
    }
    *bytes = step.bytes;
    *distance = step.distance;
}

static void message_at(const struct stream *s, uint32_t i, uint64_t *bytes, uint32_t *distance)
{
    *bytes = s->step.bytes;
    *distance = 1;
    if (uses(stream_phase(s), "halving_doubling"))
        halving_at(s, i, bytes, distance);
}

static void prepare(struct stream *s)
{
    struct stepper *step = &s->step;
    uint32_t i = step->prepared++, cycle = step->plain + step->added, distance;
    unsigned op = stream_phase(s)->op;
    uint64_t bytes;
    bool even = i / cycle % 2 == 0;
    bool adds =
        i % cycle >= step->plain && (op == COLL_REDUCE_SCATTER || (op == COLL_ALL_REDUCE && even));
    message_at(s, i, &bytes, &distance);
    stream_wait(s, STREAM_DELAYED, stream_delay_ps(s, bytes, adds));
}

// Send the next message, if one is prepared and its delay may be over, and expect one.
static void send_next(struct stream *s, ps_t now)
{
    struct stepper *step = &s->step;
    uint32_t i = step->sent, distance;
    uint64_t bytes;
    if (step->prepared == i || i == step->total || step->free == 0)
        return;
    message_at(s, i, &bytes, &distance);
    step->sent++;
    step->free--;
    stream_send(s, peer_of(s, i, distance, false), bytes, now);
    stream_receive(s, peer_of(s, i, distance, true), bytes);
}

bool stream_steps_run(struct stream *s, enum stream_event event, ps_t now)
{
    struct stepper *step = &s->step;
    const struct stream_phase *phase = stream_phase(s);
    if (event == STREAM_BEGIN) {
        for (uint32_t i = 0; i < step->window; i++)
            prepare(s);
        return false;
    }
    if (event == STREAM_RECEIVED) {
        step->received++;
        prepare(s);
        return false;
    }
    uint32_t sends = 1;
    step->free++;
    if (phase->op == COLL_ALL_REDUCE && uses(phase, "direct") &&
        step->total - step->sent <= step->n - 1) {
        // The second half sends sums, so it needs everything that the first half brings.
        if (step->received < step->n - 1)
            return false;
        sends = step->window;
    }
    while (sends-- > 0)
        send_next(s, now);
    return step->sent == step->total && step->free == step->window;
}
