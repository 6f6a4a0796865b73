// SPDX-License-Identifier: MIT
// Files that say what one host or a pair of hosts has seen, but not which: a capture, and a table
// of perftest or OSU's messages. FILE@PLACE names them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/diagnose/measured_files.h"
#include "cli/replay/address_map.h"
#include "cli/replay/replay.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define GAP_NS 1000000      // of a TCP connection, from one transfer to the next
#define COUNT_SPREAD 0.01   // of packets that are counted one by one
#define TEST_SPREAD 0.05    // of a latency, or a bandwidth of messages of another size
#define SMALL_MESSAGE 256   // bytes; a latency is taken of messages of this size or less
#define LARGE_MESSAGE 65536 // bytes; a bandwidth is taken of messages of this size or more

char *measured_file_of(const char *path, const char **place)
{
    const char *at = strrchr(path, '@');
    bool named = at && access(path, F_OK) != 0; // no file has this whole name
    *place = named ? at + 1 : "";
    return named ? text_format("%.*s", (int)(at - path), path) : memory_text(path);
}

void measured_value_add(struct measured_files *m, const char *quantity, const char *place,
                        double value, double spread, const char *unit, double scale)
{
    struct observed_value *v = observed_append(&m->values, quantity, place, unit, scale);
    v->job = observed_test_job(quantity, place);
    v->value = value;
    v->relative = spread;
    v->stated = true;
}

/* ---- captures ---- */

// Bytes of the messages of a host over the time from the first packet to the last one, in bit/s;
// NAN = it has sent none.
static double goodput_of(const struct replay *r, const struct address *address)
{
    double bytes = 0;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < r->flows.n_rows; i++) {
        const struct flow_row *row = &r->flows.rows[i];
        if (memcmp(&r->flows.endpoints[row->src].address, address, sizeof *address) != 0 ||
            row->span_ns < 0)
            continue;
        bytes += (double)row->bytes;
        first = row->start_ns < first ? row->start_ns : first;
        last = row->start_ns + row->span_ns > last ? row->start_ns + row->span_ns : last;
    }
    return last > first ? 8e9 * bytes / (double)(last - first) : (double)NAN;
}

// The rank of a host in a capture of collwire; UINT32_MAX = it is of another network.
static uint32_t own_rank(const struct replay *r, const struct address *address)
{
    for (size_t i = 0; i < r->flows.n_endpoints; i++)
        if (r->flows.endpoints[i].foreign)
            return UINT32_MAX;
    return address_own_rank(address);
}

static void take_host(struct measured_files *m, const struct replay *r,
                      const struct captured_host *h, const char *place)
{
    const struct {
        const char *quantity;
        uint64_t count;
    } counts[] = {{"np_cnp_sent", h->cnps_sent},
                  {"rp_cnp_handled", h->cnps_received},
                  {"np_ecn_marked_roce_packets", h->marks},
                  {"retransmitted", h->again},
                  {"tx_packets_phy", h->sent},
                  {"rx_packets_phy", h->received}};
    double goodput = goodput_of(r, &h->address);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        measured_value_add(m, counts[i].quantity, place, (double)counts[i].count, COUNT_SPREAD, "",
                           1);
    if (goodput > 0)
        measured_value_add(m, "goodput", place, goodput, COUNT_SPREAD, "Gb/s", 1e9);
}

// The host of the capture: the one of all packets, or of a pair the rank that the place names.
static const struct captured_host *host_of(const struct replay *r,
                                           const struct captured_hosts *hosts, const char *path,
                                           const char *place, uint32_t *rank, struct err *err)
{
    const struct captured_host *common[2] = {NULL, NULL};
    size_t n = captured_hosts_common(hosts, common);
    char text[ADDRESS_TEXT];
    for (size_t i = 0; i < n; i++) {
        char *own;
        *rank = own_rank(r, &common[i]->address);
        own = text_format("rank%u", *rank);
        bool named = n == 1 ? *place || *rank != UINT32_MAX : strcmp(own, place) == 0;
        free(own);
        if (named)
            return common[i];
    }
    if (n == 0)
        err_add(err, path, "is a capture of several hosts, or of none: give that of one");
    else if (n == 1)
        err_add(err, path, "is a capture of the host %s: say which rank it is, %s@rank3",
                address_text(&common[0]->address, text), path);
    else if (*rank != UINT32_MAX)
        err_add(err, path, "is a capture of two hosts: say at which rank, %s@rank%u", path, *rank);
    else
        err_add(err, path,
                "is a capture of two hosts, and does not say at which: give its counts as values, "
                "such as cnps, marks or packets of rank3");
    return NULL;
}

int measured_capture_read(struct measured_files *m, const char *path, const char *place,
                          struct err *err)
{
    struct replay r;
    struct captured_hosts hosts = {0};
    uint32_t rank = UINT32_MAX;
    int status = replay_read(&r, path, GAP_NS, &hosts, err);
    if (status == 0 && r.failure)
        status = err_add(err, path, "%s", r.failure);
    const struct captured_host *h =
        status == 0 ? host_of(&r, &hosts, path, place, &rank, err) : NULL;
    bool found = h != NULL;
    char *own = text_format("rank%u", rank);
    if (h)
        take_host(m, &r, h, *place ? place : own);
    free(own);
    captured_hosts_free(&hosts);
    replay_free(&r);
    return found ? 0 : -1;
}

/* ---- tables of messages ---- */

int measured_messages_take(struct measured_files *m, const struct measured_table *t,
                           const char *path, const char *place, struct err *err)
{
    bool latency = t->what == AGAINST_DELIVERY || t->what == AGAINST_COMPLETION;
    const struct measured_row *found = NULL;
    for (size_t i = 0; i < t->n; i++) {
        const struct measured_row *row = &t->rows[i];
        bool fits = latency ? row->bytes <= SMALL_MESSAGE : row->bytes >= LARGE_MESSAGE;
        if (fits && (!found || (latency ? row->bytes < found->bytes : row->bytes > found->bytes)))
            found = row;
    }
    if (t->what == AGAINST_COMPLETION)
        return err_add(err, path, "has the latency of reads: give that of writes or sends");
    if (!found)
        return err_add(err, path,
                       latency ? "has no latency of a message of %d B or less"
                               : "has no bandwidth of messages of %d B or more",
                       latency ? SMALL_MESSAGE : LARGE_MESSAGE);
    double ways = t->what == AGAINST_GOODPUT_BOTH ? 2 : 1;
    double value =
        latency ? found->time_us * 1e3 : 8e9 * (double)found->bytes / (found->time_us * 1e3) / ways;
    measured_value_add(m, latency ? "latency" : "bandwidth", place, value, TEST_SPREAD,
                       latency ? "us" : "Gb/s", latency ? 1e3 : 1e9);
    if (*place && !m->values.list[m->values.n - 1].job)
        return err_add(err, path, "the place of a test is rank0->rank9, not %s", place);
    return 0;
}

char *measured_pairs_fill(struct observed *values, uint32_t ranks)
{
    char *place = text_format("rank0->rank%u", ranks / 2);
    bool filled = false;
    for (size_t i = 0; i < values->n; i++) {
        struct observed_value *v = &values->list[i];
        if (!observed_is_test(v->quantity) || v->job)
            continue;
        free(v->place);
        v->place = memory_text(place);
        v->job = observed_test_job(v->quantity, place);
        filled = true;
    }
    if (filled)
        return place;
    free(place);
    return NULL;
}
