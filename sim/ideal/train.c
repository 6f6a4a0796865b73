// SPDX-License-Identifier: MIT
#include "sim/ideal/train.h"

static double later(double a, double b) { return a > b ? a : b; }

double train_forward_ps(const struct train_hop *hop, uint32_t wire_bytes)
{
    return arriving_bytes(hop->header_bytes, wire_bytes) * hop->byte_ps + (double)hop->delay_ps;
}

// The starts of the packets that determine the train, on one hop.
struct starts {
    double first, second, middle, last; // second and middle: first and last of the equal packets
};

struct train train_of(const struct train_hop *hops, uint32_t n, const struct ideal_wire *w,
                      double from_ps, double *free_ps)
{
    struct train t = {.before_ps = -1};
    struct starts s = {from_ps, from_ps, from_ps, from_ps};
    uint64_t mids = w->packets > 2 ? w->packets - 2 : 0;
    uint32_t final = w->packets > 1 ? w->last : w->first;
    for (uint32_t h = 0; h < n; h++) {
        const struct train_hop *hop = &hops[h];
        double b = hop->byte_ps;
        if (free_ps)
            s.first = later(s.first, free_ps[h]);
        double behind = s.first + w->first * b; // what follows the first packet may start
        if (mids > 0) {
            s.second = later(s.second, behind);
            s.middle = later(s.middle, s.second + (double)(mids - 1) * w->mid * b);
            behind = s.middle + w->mid * b;
        }
        s.last = w->packets > 1 ? later(s.last, behind) : s.first;
        double sent = s.last + final * b;
        if (free_ps)
            free_ps[h] = sent;
        if (h == 0) {
            t.begin_ps = s.first;
            t.last_start_ps = s.last;
            t.sent_ps = sent;
        }
        if (h + 1 == n) {
            t.arrives_ps = sent + (double)hop->delay_ps;
            t.before_ps = w->packets > 1 ? behind + (double)hop->delay_ps : -1;
        }
        s.first += train_forward_ps(hop, w->first);
        s.second += train_forward_ps(hop, w->mid);
        s.middle += train_forward_ps(hop, w->mid);
        s.last += train_forward_ps(hop, final);
    }
    return t;
}

double train_answered(const struct train_hop *hops, uint32_t n, double arrives_ps, double before_ps,
                      uint32_t ack_bytes)
{
    double last = arrives_ps, before = before_ps;
    for (uint32_t h = 0; h < n; h++) {
        if (before_ps >= 0) {
            last = later(last, before + ack_bytes * hops[h].byte_ps);
            before += train_forward_ps(&hops[h], ack_bytes);
        }
        last += train_forward_ps(&hops[h], ack_bytes);
    }
    return last;
}

double train_at_hop(const struct train_hop *hops, const struct ideal_wire *w, uint32_t hop,
                    double *begin_ps)
{
    double byte_ps = hops[hop].byte_ps;
    for (uint32_t i = 0; i < hop; i++) {
        *begin_ps += train_forward_ps(&hops[i], w->first);
        byte_ps = later(byte_ps, hops[i].byte_ps);
    }
    return byte_ps;
}

uint64_t train_started(const struct ideal_wire *w, double begin_ps, double byte_ps, double now_ps)
{
    double since = now_ps - begin_ps, first = w->first * byte_ps;
    if (since < 0)
        return 0;
    if (since < first || w->packets == 1)
        return 1;
    uint64_t n = 2 + (uint64_t)((since - first) / (w->mid * byte_ps));
    return n < w->packets ? n : w->packets;
}

uint64_t train_bytes(const struct ideal_wire *w, uint64_t packets)
{
    if (packets == w->packets)
        return w->total;
    return packets == 0 ? 0 : w->first + (packets - 1) * w->mid;
}
