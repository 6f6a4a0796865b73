// SPDX-License-Identifier: MIT
// A lower bound of a collective's time, however links are shared: the largest of three bounds.
//
// Path. The longest path through the steps. A message takes at least its time alone on an empty
// network (sim/ideal/ideal.c), and the messages that a step receives on one link take at least the
// time of all their bytes on that link.
// Links. The bytes that a rank sends or receives on one link. ACKs leave before the NIC pulls more
// data, so ACKs of received data delay data sent by the same ports: with F the end of the sent data
// and E the end of all, ACKs after F belong to data that arrives within E - F, and take less time
// than that.
// Mean. If each rank sends one message and receives one message in a step, rank r's step ends no
// earlier than its sender's last byte plus the latency after it, F(sender) + l. Summed over all
// ranks the waits E(r) - F(r) are l each, so the mean over ranks of data, ACKs and l per step is a
// bound. It includes ACKs, which the path bound cannot. ACKs that leave during the waits delay
// nothing; a step has up to SPARE_ACKS more of them on each port, for packets that arrive as its
// last ACK leaves.
//
// With dimensions the phases of a chunk follow one another at each rank. Not included: contention
// inside the fabric and for routers, the time of reductions, the wait for a dimension.
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "collective/algorithm/phase_plan.h"
#include "collective/algorithm/reduction.h"
#include "collective/instance.h"
#include "engine/base/memory.h"
#include "sim/ideal/ideal_internal.h"
#include "sim/ideal/ideal_message.h"
#include "sim/ideal/ideal_reduction.h"

// limit of the steps from the issue of a message to the step that receives it
#define STEPS_AHEAD 64
#define SPARE_ACKS 4

struct known_message { // a rank's last message
    uint32_t peer;
    uint64_t bytes;
    struct ideal_message message;
};

struct awaited { // messages that a rank receives in a step
    double ready_ps;
    uint32_t line; // first port of the link that is summed; GRAPH_NONE = no link yet
    double first_ps, bytes_ps;
};

struct line_sum { // [port] sums of a link, at the link's first port
    bool used;
    double first_out_ps, first_in_ps; // earliest start of use
    double out_ps, acks_ps, in_ps, after_ps;
    double ack_ps, ack_share; // maxima over messages
};

struct evaluation {
    const struct ideals *ideals;
    const uint32_t *ranks; // [member] rank of the network; NULL = the same number
    const struct coll_schedule *schedule;
    uint32_t transport; // of its messages
    /* a phase in a group */
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    uint32_t dim, group;
    /* [member of the communicator] */
    struct known_message *known;
    double *enter;           // start of the current step
    uint32_t *sends_by;      // link of the current step's message
    struct awaited *awaited; // [step % STEPS_AHEAD][rank]
    /* lines */
    struct line_sum *lines;
    double weight; // number of chunks that the evaluated chunk represents
    double share;  // share of these chunks whose messages go in the evaluated direction
    bool back;     // config: rings with a free direction are evaluated downwards
    bool mirrored; // the phase is a ring that is evaluated downwards: members count backwards
    /* mean */
    bool paired; // in every step so far each rank has sent and received one message
    double sum_ps;
};

static uint32_t rank_of(const struct evaluation *e, uint32_t member)
{
    // The member 0 of a ring stays where it is when the ring is walked downwards.
    if (e->mirrored && member > 0)
        member = e->shape.ranks - member;
    return coll_rank_of(e->schedule, e->dim, e->group, member);
}

static const struct ideal_message *message_of(struct evaluation *e, uint32_t member,
                                              const struct coll_send *send)
{
    uint32_t rank = rank_of(e, member), peer = rank_of(e, send->peer);
    struct known_message *known = &e->known[rank];
    // Most steps of an algorithm send the same bytes to the same peer.
    if (known->peer == peer && known->bytes == send->bytes)
        return &known->message;
    known->peer = peer;
    known->bytes = send->bytes;
    known->message = ideal_message(e->ideals, e->ranks ? e->ranks[rank] : rank,
                                   e->ranks ? e->ranks[peer] : peer, e->transport, send->bytes);
    return &known->message;
}

static struct awaited *awaited_at(struct evaluation *e, uint32_t step, uint32_t member)
{
    uint32_t ranks = coll_ranks(e->schedule);
    return &e->awaited[(size_t)(step % STEPS_AHEAD) * ranks + rank_of(e, member)];
}

static struct line_sum *line_at(struct evaluation *e, uint32_t port)
{
    struct line_sum *line = &e->lines[port];
    if (!line->used)
        *line = (struct line_sum){
            .used = true, .first_out_ps = 1e300, .first_in_ps = 1e300, .after_ps = 1e300};
    return line;
}

static void keep_least(double *least, double value) { *least = value < *least ? value : *least; }

static void keep_most(double *most, double value) { *most = value > *most ? value : *most; }

static void add_to_lines(struct evaluation *e, const struct ideal_message *m, double begin)
{
    if (m->out != GRAPH_NONE) {
        struct line_sum *out = line_at(e, m->out);
        keep_least(&out->first_out_ps, begin);
        keep_least(&out->after_ps, m->after_ps);
        out->out_ps += m->out_ps * e->weight * e->share;
    }
    if (m->in != GRAPH_NONE) {
        struct line_sum *in = line_at(e, m->in);
        keep_least(&in->first_in_ps, begin + m->before_ps);
        in->in_ps += m->in_ps * e->weight * e->share;
        in->acks_ps += m->acks_ps * e->weight * e->share;
        keep_most(&in->ack_ps, m->ack_ps);
        keep_most(&in->ack_share, m->ack_share);
    }
}

// The end of all traffic on a link. ACKs may leave before the first data does, once data has
// arrived.
static double line_end_ps(const struct line_sum *line)
{
    double acks = line->acks_ps - SPARE_ACKS * line->ack_ps, most = 0;
    if (line->in_ps > 0)
        most = line->first_in_ps + line->in_ps;
    if (line->out_ps <= 0)
        return most;
    double first = line->first_out_ps < line->first_in_ps ? line->first_out_ps : line->first_in_ps;
    keep_most(&most, line->first_out_ps + line->out_ps + line->after_ps);
    keep_most(&most, first + line->out_ps + acks + line->after_ps * (1 - line->ack_share));
    return most;
}

static void await(struct awaited *a, const struct ideal_message *m, double begin)
{
    keep_most(&a->ready_ps, begin + m->reach_ps);
    if (m->in == GRAPH_NONE || (a->line != GRAPH_NONE && a->line != m->in))
        return;
    if (a->line == GRAPH_NONE)
        *a = (struct awaited){a->ready_ps, m->in, begin + m->before_ps, 0};
    keep_least(&a->first_ps, begin + m->before_ps);
    a->bytes_ps += m->in_ps;
    keep_most(&a->ready_ps, a->first_ps + a->bytes_ps);
}

// Add to the mean bound: a rank's data in a step, its ACKs on the same ports, and the latency.
static void add_pair(struct evaluation *e, const struct ideal_message *m,
                     const struct coll_send *send, uint32_t step)
{
    bool beside = m->in != GRAPH_NONE && m->in == e->sends_by[rank_of(e, send->peer)];
    double acks = beside ? m->acks_ps - SPARE_ACKS * m->ack_ps : 0;
    e->paired = e->paired && send->peer_step == step;
    e->sum_ps += m->own_ps + (acks > 0 ? acks : 0) +
                 (m->after_ps + m->behind_ps) * (acks > 0 ? 1 - m->ack_share : 1) +
                 (double)e->schedule->endpoint_ps;
}

static void check_paired(struct evaluation *e, uint32_t step)
{
    const struct coll_algorithm *a = e->algorithm;
    for (uint32_t m = 0; m < e->shape.ranks && e->paired; m++)
        e->paired = a->n_sends(&e->shape, m, step) == 1 && a->n_recvs(&e->shape, m, step) == 1;
    for (uint32_t m = 0; m < e->shape.ranks && e->paired; m++) {
        struct coll_send send = a->send(&e->shape, m, step, 0);
        e->sends_by[rank_of(e, m)] = message_of(e, m, &send)->out;
    }
}

static void evaluate_step(struct evaluation *e, uint32_t step)
{
    const struct coll_algorithm *a = e->algorithm;
    // The mean bound holds only while each rank sends and receives one message per step.
    check_paired(e, step);
    for (uint32_t m = 0; m < e->shape.ranks; m++) {
        uint32_t n = a->n_sends(&e->shape, m, step);
        double begin = e->enter[rank_of(e, m)] + (double)e->schedule->endpoint_ps;
        for (uint32_t k = 0; k < n; k++) {
            struct coll_send send = a->send(&e->shape, m, step, k);
            const struct ideal_message *message = message_of(e, m, &send);
            add_to_lines(e, message, begin);
            await(awaited_at(e, send.peer_step, send.peer), message, begin);
            if (e->paired)
                add_pair(e, message, &send, step);
        }
    }
    for (uint32_t m = 0; m < e->shape.ranks; m++) {
        struct awaited *awaited = awaited_at(e, step, m);
        double *enter = &e->enter[rank_of(e, m)],
               issued = *enter + (double)e->schedule->endpoint_ps;
        *enter = issued;
        keep_most(enter, awaited->ready_ps);
        *awaited = (struct awaited){.line = GRAPH_NONE};
    }
}

// Add the bytes that a rank exchanges with its aggregators to its links, without ACKs.
static void add_exchange(struct evaluation *e, uint32_t member, uint32_t rank, double begin)
{
    struct rank_bytes bytes = ideal_reduction_bytes(&e->shape, member);
    for (uint32_t t = 0; t < e->shape.reduction->n_trees; t++) {
        uint32_t end = ideal_reduction_parent(&e->shape, t, member);
        struct ideal_message out = ideal_message(e->ideals, rank, end, e->transport, bytes.sent);
        struct ideal_message in = ideal_message(e->ideals, end, rank, e->transport, bytes.received);
        // Only one direction of each message is on a link of the rank; the other end is an
        // aggregator.
        out.in = in.out = GRAPH_NONE;
        in.acks_ps = in.ack_ps = in.ack_share = 0;
        add_to_lines(e, &out, begin);
        add_to_lines(e, &in, begin);
    }
}

// Evaluate a phase that aggregators reduce.
static void evaluate_reduction(struct evaluation *e)
{
    uint32_t n = e->shape.ranks;
    uint32_t *ranks = memory_zeroed(n, sizeof *ranks);
    double *enter = memory_zeroed(n, sizeof *enter), endpoint = (double)e->schedule->endpoint_ps;
    for (uint32_t m = 0; m < n; m++) {
        ranks[m] = e->ranks ? e->ranks[rank_of(e, m)] : rank_of(e, m);
        enter[m] = e->enter[rank_of(e, m)] + endpoint;
        if (n > 1)
            add_exchange(e, m, ranks[m], enter[m]);
    }
    ideal_reduction(e->ideals, &e->shape, ranks, e->transport, enter);
    for (uint32_t m = 0; m < n; m++)
        e->enter[rank_of(e, m)] = enter[m] + endpoint;
    // With aggregators the sums over pairs of ranks do not apply.
    e->paired = false;
    free(ranks);
    free(enter);
}

static void evaluate_phase(struct evaluation *e)
{
    if (e->algorithm->members) {
        evaluate_reduction(e);
        return;
    }
    uint32_t steps = e->algorithm->steps(&e->shape);
    for (uint32_t step = 0; step < steps; step++)
        evaluate_step(e, step);
    for (uint32_t m = 0; m < e->shape.ranks; m++)
        e->enter[rank_of(e, m)] += (double)e->schedule->endpoint_ps;
    e->sum_ps += (double)e->schedule->endpoint_ps * e->shape.ranks;
}

/* ---- rings of streams ---- */

// An all-to-all by `ring` of ranks with streams passes every block on from neighbour to neighbour
// (collective/stream_steps.c), where coll_ring sends it directly. Its n(n-1)/2 messages are
// evaluated one by one, as the run sends them.
static uint32_t passing_steps(const struct coll_shape *shape)
{
    return (uint32_t)((uint64_t)shape->ranks * (shape->ranks - 1) / 2);
}

static uint32_t one_message(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    (void)shape;
    (void)rank;
    (void)step;
    return 1;
}

static struct coll_send passing_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                     uint32_t k)
{
    (void)k;
    return (struct coll_send){
        .peer = (rank + 1) % shape->ranks, .peer_step = step, .bytes = shape->bytes / shape->ranks};
}

static const struct coll_algorithm passing = {
    .steps = passing_steps, .n_sends = one_message, .send = passing_send, .n_recvs = one_message};

// Choose the messages with which a phase is evaluated. With several queues in a dimension, streams
// take them in turn, and half of the queues send round the ring in the opposite direction
// (collective/stream_plan.c). In a bandwidth-aware all-reduce each phase has its direction.
// Elsewhere the chunks alternate, so at least half of them go in one direction: the bound has half
// of the bytes in the direction that `back` chooses, and the caller takes the smaller of both
// bounds.
static void choose_messages(struct evaluation *e, enum coll_op op, const struct coll_phase *phase)
{
    const struct coll_streams *streams = &e->schedule->streams;
    e->algorithm = coll_choice_at(e->schedule, op, phase)->algorithm;
    e->share = 1;
    e->mirrored = false;
    if (!streams->enabled || strcmp(e->algorithm->name, "ring") != 0)
        return;
    if (phase->op == COLL_ALL_TO_ALL)
        e->algorithm = &passing;
    if (streams->queues < 2)
        return;
    bool given = op == COLL_ALL_REDUCE && e->schedule->phases == COLL_BANDWIDTH_AWARE;
    e->mirrored = given ? phase->op == COLL_ALL_GATHER : e->back;
    e->share = given ? 1 : 0.5;
}

// Evaluate one chunk through its phases, with all groups of each phase in parallel.
static void evaluate_chunk(struct evaluation *e, const struct instance *in, uint32_t chunk)
{
    for (uint32_t i = 0; i < in->n_phases; i++) {
        const struct coll_phase *phase = instance_phase(in, chunk, i);
        e->dim = phase->dim;
        choose_messages(e, in->request.op, phase);
        for (e->group = 0; e->group < coll_n_groups(e->schedule, e->dim); e->group++) {
            e->shape = instance_shape(e->schedule, in, chunk, i, e->group);
            evaluate_phase(e);
        }
    }
}

// Chunks of the same size and phases exchange the same bytes, unless ranks have vectors of
// different sizes.
static bool same_plan(const struct coll_schedule *s, const struct instance *in, uint32_t a,
                      uint32_t b)
{
    struct coll_range p = instance_chunk(in, a), q = instance_chunk(in, b);
    // With vectors of different sizes each chunk stands for itself.
    if (p.end - p.first != q.end - q.first || in->request.uneven)
        return a == b;
    for (uint32_t i = 0; i < in->n_phases; i++) {
        const struct coll_phase *x = instance_phase(in, a, i), *y = instance_phase(in, b, i);
        if (x->dim != y->dim || x->op != y->op)
            return false;
        // Some algorithms use another tree or direction for every second chunk.
        if (coll_choice_at(s, in->request.op, x)->algorithm->by_chunk && a % 2 != b % 2)
            return false;
    }
    return true;
}

static double evaluate_all(struct evaluation *e, const struct instance *in)
{
    uint32_t ranks = coll_ranks(e->schedule),
             ports = e->ideals->fabric->net.first_port[e->ideals->fabric->graph.n_ends];
    bool *done = memory_zeroed(in->n_chunks, sizeof *done);
    double most = 0;
    for (uint32_t c = 0; c < in->n_chunks; c++) {
        if (done[c])
            continue;
        e->weight = 0;
        for (uint32_t other = c; other < in->n_chunks; other++) {
            if (done[other] || !same_plan(e->schedule, in, c, other))
                continue;
            done[other] = true;
            e->weight++;
        }
        memset(e->enter, 0, ranks * sizeof *e->enter);
        e->paired = true;
        e->sum_ps = 0;
        evaluate_chunk(e, in, c);
        for (uint32_t r = 0; r < ranks; r++)
            keep_most(&most, e->enter[r]);
        keep_most(&most, e->paired ? e->sum_ps / ranks : 0);
    }
    free(done);
    for (uint32_t p = 0; p < ports; p++)
        if (e->lines[p].used)
            keep_most(&most, line_end_ps(&e->lines[p]) + (double)e->schedule->endpoint_ps);
    return most;
}

ps_t ideal_collective_ps(const struct ideals *ideals, const uint32_t *ranks,
                         const struct coll_schedule *schedule, const struct comm_request *request,
                         uint32_t transport)
{
    if (fabric_is_analytical(ideals->fabric))
        return -1; // a collective without messages has no ideal time
    struct evaluation e = {
        .ideals = ideals, .ranks = ranks, .schedule = schedule, .transport = transport};
    struct coll_planner planner;
    uint32_t n = coll_ranks(schedule);
    e.known = memory_zeroed(n, sizeof *e.known);
    e.enter = memory_zeroed(n, sizeof *e.enter);
    e.sends_by = memory_zeroed(n, sizeof *e.sends_by);
    e.awaited = memory_zeroed((size_t)n * STEPS_AHEAD, sizeof *e.awaited);
    e.lines = memory_zeroed(ideals->fabric->net.first_port[ideals->fabric->graph.n_ends],
                            sizeof *e.lines);
    for (uint32_t rank = 0; rank < n; rank++)
        e.known[rank].peer = GRAPH_NONE;
    for (size_t i = 0; i < (size_t)n * STEPS_AHEAD; i++)
        e.awaited[i].line = GRAPH_NONE;
    coll_planner_init(&planner, schedule);
    struct instance *in = instance_new(&planner, request, 0);
    double ps = in->n_phases > 0 ? evaluate_all(&e, in) : 0;
    if (in->n_phases > 0 && schedule->streams.enabled && schedule->streams.queues > 1) {
        memset(e.lines, 0,
               ideals->fabric->net.first_port[ideals->fabric->graph.n_ends] * sizeof *e.lines);
        e.back = true;
        keep_least(&ps, evaluate_all(&e, in));
    }
    instance_free(in);
    free(e.known);
    free(e.enter);
    free(e.sends_by);
    free(e.awaited);
    free(e.lines);
    return (ps_t)(ps * (1 - 1e-13));
}
