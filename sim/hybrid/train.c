// SPDX-License-Identifier: MIT
#include "sim/hybrid/train.h"

#include "net/network.h"

static double later(double a, double b) { return a > b ? a : b; }

double train_forward_ps(const struct train_hop *hop, uint32_t wire_bytes)
{
    return arriving_bytes(hop->header_bytes, wire_bytes) * hop->byte_ps + (double)hop->delay_ps;
}

// The starts of the packets that determine the train, on one hop.
struct starts {
    double first, second, middle, last; // second and middle: first and last of the equal packets
};

struct train train_of(const struct train_path *path, const struct train_sizes *sizes,
                      double from_ps, double free_ps[TRAIN_HOPS])
{
    struct train t = {.before_ps = -1};
    struct starts s = {from_ps, from_ps, from_ps, from_ps};
    uint64_t mids = sizes->packets > 2 ? sizes->packets - 2 : 0;
    uint32_t final = sizes->packets > 1 ? sizes->last : sizes->first;
    for (uint32_t h = 0; h < path->n; h++) {
        const struct train_hop *hop = &path->hops[h];
        double b = hop->byte_ps;
        s.first = later(s.first, free_ps[h]);
        double behind = s.first + sizes->first * b; // what follows the first packet may start
        if (mids > 0) {
            s.second = later(s.second, behind);
            s.middle = later(s.middle, s.second + (double)(mids - 1) * sizes->mid * b);
            behind = s.middle + sizes->mid * b;
        }
        s.last = sizes->packets > 1 ? later(s.last, behind) : s.first;
        free_ps[h] = s.last + final * b;
        if (h == 0) {
            t.begin_ps = s.first;
            t.last_start_ps = s.last;
            t.sent_ps = free_ps[0];
        }
        if (h + 1 == path->n) {
            t.arrives_ps = free_ps[h] + (double)hop->delay_ps;
            if (mids > 0)
                t.before_ps = s.middle + sizes->mid * b + (double)hop->delay_ps;
            else if (sizes->packets > 1)
                t.before_ps = s.first + sizes->first * b + (double)hop->delay_ps;
        }
        s.first += train_forward_ps(hop, sizes->first);
        s.second += train_forward_ps(hop, sizes->mid);
        s.middle += train_forward_ps(hop, sizes->mid);
        s.last += train_forward_ps(hop, final);
    }
    return t;
}

double train_answered(const struct train_path *path, const struct train *t, uint32_t ack_bytes,
                      bool each)
{
    double last = t->arrives_ps, before = t->before_ps;
    for (uint32_t h = 0; h < path->n; h++) {
        const struct train_hop *hop = &path->hops[h];
        if (each && before >= 0) {
            last = later(last, before + ack_bytes * hop->byte_ps);
            before += train_forward_ps(hop, ack_bytes);
        }
        last += train_forward_ps(hop, ack_bytes);
    }
    return last;
}

double train_at_hop(const struct train_path *path, const struct train_sizes *sizes, uint32_t hop,
                    double *begin_ps)
{
    double byte_ps = path->hops[hop].byte_ps;
    for (uint32_t i = 0; i < hop; i++) {
        *begin_ps += train_forward_ps(&path->hops[i], sizes->first);
        byte_ps = later(byte_ps, path->hops[i].byte_ps);
    }
    return byte_ps;
}

uint64_t train_started(const struct train *t, const struct train_sizes *sizes, double byte_ps,
                       double stretch, double now_ps)
{
    double since = (now_ps - t->begin_ps) / stretch, first = sizes->first * byte_ps;
    if (since < 0)
        return 0;
    if (since < first || sizes->packets == 1)
        return 1;
    uint64_t n = 2 + (uint64_t)((since - first) / (sizes->mid * byte_ps));
    return n < sizes->packets ? n : sizes->packets;
}

uint64_t train_bytes(const struct train_sizes *sizes, uint64_t packets)
{
    if (packets == 0)
        return 0;
    if (packets == sizes->packets && packets > 1)
        return sizes->first + (packets - 2) * sizes->mid + sizes->last;
    return sizes->first + (packets - 1) * sizes->mid;
}
