// SPDX-License-Identifier: MIT
// Traffic classes of a run, and the buffer of a switch: the reserve of its classes, the headroom of
// lossless ones, and the thresholds of each.
#include <math.h>
#include <stdio.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"

// Scheduling quanta of the data classes: weight times the largest frame of any dimension.
void fabric_weights_init(struct fabric *fabric)
{
    struct network *net = &fabric->net;
    uint32_t largest = 0;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        struct largest_packets most = fabric_largest_packets(fabric, d);
        largest = most.first_wire > largest ? most.first_wire : largest;
        largest = most.ack_wire > largest ? most.ack_wire : largest;
    }
    // With a quantum of at least the largest packet, a class can send in each of its turns.
    for (uint32_t p = 0; p < net->n_ports; p++)
        for (unsigned slot = net->data_slot; slot < net->n_slots; slot++) {
            unsigned cls = net->class_of_slot[slot];
            const struct switch_spec *sw = &fabric->spec->dims[fabric->graph.ports[p].dim].sw;
            network_set_quantum(net, p, cls, (uint32_t)sw->classes[cls].weight * largest);
        }
}

// The cells that `bytes` on a link may occupy at most, in packets of any size that the dimension
// has.
static uint64_t in_cells(const struct fabric *fabric, uint32_t dim, uint64_t bytes)
{
    uint64_t cell = fabric->spec->dims[dim].sw.cell_bytes, least = UINT64_MAX;
    if (cell <= 1)
        return bytes;
    for (uint32_t t = 0; t < fabric->hosts.n_transports; t++) {
        const struct transport_dim *d = hosts_dim(&fabric->hosts, dim, t);
        uint64_t data = d->ops->data_sizes(&d->spec, 0, false).frame, ack = d->ack.frame;
        least = data < least ? data : least;
        least = ack < least ? ack : least;
    }
    // The ratio is largest for the smallest packets, or for those one byte larger than full cells.
    uint64_t cells = (least + cell - 1) / cell;
    double small = (double)(cells * cell) / (double)least;
    double larger = (double)((cells + 1) * cell) / (double)(cells * cell + 1);
    return (uint64_t)ceil((double)bytes * (small > larger ? small : larger)) + cell;
}

// Headroom with which one lossless class at a port of a switch loses nothing.
static uint32_t headroom_needed(const struct fabric *fabric, uint32_t port, uint32_t n_lossless)
{
    const struct graph_port *here = &fabric->graph.ports[port];
    const struct graph_port *sender = &fabric->graph.ports[here->peer];
    const struct pfc_spec *pfc = &fabric->spec->dims[here->dim].sw.pfc;
    struct largest_packets most = fabric_largest_packets(fabric, here->dim);
    uint32_t data = most.first_wire, ack = most.ack_wire;
    struct headroom_link link = {.rate_bps = sender->rate_bps,
                                 .back_rate_bps = here->rate_bps,
                                 .delay_ps = sender->delay_ps,
                                 .back_delay_ps = here->delay_ps,
                                 .response_ps = pfc->response_ps,
                                 .max_frame_in = data,
                                 .max_frame_back = data > ack ? data : ack,
                                 .pfc_wire_bytes = fabric->net.pfc_wire_bytes,
                                 // each class sends its own PAUSE frame
                                 .pfc_ahead = 3 * n_lossless - 1};
    uint64_t bytes = in_cells(fabric, here->dim, mmu_headroom_bytes(&link));
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

uint32_t fabric_nic_headroom(const struct fabric *fabric, uint32_t port, uint32_t n_lossless)
{
    return fabric_uses_credits(fabric, fabric->graph.ports[port].dim)
               ? fabric_credit_bytes(fabric, port)
               : headroom_needed(fabric, port, n_lossless);
}

static uint32_t headroom_of(const struct fabric *fabric, uint32_t port, uint32_t n_lossless)
{
    uint64_t given = fabric->spec->dims[fabric->graph.ports[port].dim].sw.pfc.headroom_bytes;
    if (fabric_uses_credits(fabric, fabric->graph.ports[port].dim))
        return fabric_credit_bytes(fabric, port);
    return given != PARAM_AUTO ? (uint32_t)given : headroom_needed(fabric, port, n_lossless);
}

// Writes the classes of a bit set: "class 3", "classes 0, 3".
static const char *class_names(uint8_t classes, char buf[UNIT_TEXT])
{
    int n = snprintf(buf, UNIT_TEXT, "class%s", classes & (classes - 1) ? "es" : "");
    const char *comma = "";
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        if (classes >> cls & 1) {
            n += snprintf(buf + n, UNIT_TEXT - (size_t)n, "%s %u", comma, cls);
            comma = ",";
        }
    return buf;
}

uint64_t fabric_headroom_needed(const struct fabric *fabric, uint32_t dim)
{
    uint32_t n_lossless = (uint32_t)__builtin_popcount(fabric_lossless(fabric, dim)), most = 0;
    if (n_lossless == 0 || fabric_uses_credits(fabric, dim))
        return 0;
    for (uint32_t p = 0; p < fabric->graph.n_ports; p++) {
        if (fabric->graph.ports[p].dim != dim || !switch_of_port(&fabric->switches, p))
            continue;
        uint32_t bytes = headroom_needed(fabric, p, n_lossless);
        most = bytes > most ? bytes : most;
    }
    return most;
}

// Check a headroom that the scenario gives for a dimension: 0 contradicts a lossless class.
static void check_headroom(const struct fabric *fabric, uint32_t dim, struct err *err)
{
    uint64_t needed = fabric_headroom_needed(fabric, dim);
    char classes[UNIT_TEXT], n[UNIT_TEXT];
    if (fabric->spec->dims[dim].sw.pfc.headroom_bytes == 0 && needed > 0)
        err_add(
            err, "switch.pfc.headroom",
            "0 B, but PFC is to keep %s lossless: what a sender still sends after a pause needs "
            "up to %s (auto), or the class `lossless: false`",
            class_names(fabric_lossless(fabric, dim), classes), human_bytes(needed, n));
}

void fabric_check_headroom(const struct fabric *fabric, struct err *err)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        check_headroom(fabric, d, err);
}

#define HEADROOM_REMEDY 160
#define BUFFER_MAX 4e9 // of switch.buffer

// The ways out of a headroom that does not fit. A buffer that holds it and has as much to share as
// the given one is rounded up to three digits, so that what is said fits.
static const char *headroom_remedy(uint64_t taken, uint64_t buffer, uint32_t n_lossless,
                                   char buf[HEADROOM_REMEDY])
{
    double bytes = (double)(taken + buffer), digits = 1;
    while (bytes / digits >= 1000)
        digits *= 10;
    uint64_t rounded = (uint64_t)(ceil(bytes / digits) * digits);
    char text[UNIT_TEXT];
    int used = 0;
    if ((double)rounded <= BUFFER_MAX)
        used = snprintf(buf, HEADROOM_REMEDY, "give it %s%s", format_bytes(rounded, text),
                        n_lossless > 0 ? ", or " : "");
    if (n_lossless > 0)
        snprintf(buf + used, HEADROOM_REMEDY - (size_t)used,
                 "shorten the link (link.delay), or let it drop packets: "
                 "\"pfc\": {\"enabled\": false}");
    return buf;
}

static void headroom_error(const struct fabric *fabric, uint32_t index, uint32_t far,
                           uint32_t n_lossless, struct err *err)
{
    const struct switch_node *s = &fabric->switches.nodes[index];
    const struct mmu *mmu = &s->mmu;
    const struct graph_port *sender = &fabric->graph.ports[fabric->graph.ports[far].peer];
    uint64_t headroom = 0, n = (uint64_t)s->n_ports * mmu->n_classes;
    for (uint64_t i = 0; i < n; i++)
        headroom += mmu->ingress[i].headroom_limit;
    // Light takes about 5 us for a kilometre of fibre.
    ps_t wire_ps = sender->delay_ps - fabric_latency_ps(fabric, fabric->graph.ports[far].peer);
    char name[GRAPH_NAME], h[UNIT_TEXT], r[UNIT_TEXT], b[UNIT_TEXT], rate[UNIT_TEXT], t[UNIT_TEXT];
    char remedy[HEADROOM_REMEDY] = "";
    err_add(err, "switch.buffer",
            "%s: headroom %s and reserve %s exceed the buffer %s: %u ports, up to %s over %s "
            "(%.3g km of fibre), %u lossless class%s: %s",
            fabric_switch_name(fabric, index, name), human_bytes(headroom, h),
            human_bytes(mmu->config.reserve_bytes * n, r), human_bytes(mmu->config.buffer_bytes, b),
            s->n_ports, human_rate((double)sender->rate_bps, rate), human_time(wire_ps, t),
            (double)wire_ps / (5.0 * PS_PER_US), n_lossless, n_lossless == 1 ? "" : "es",
            headroom_remedy(headroom + mmu->config.reserve_bytes * n, mmu->config.buffer_bytes,
                            n_lossless, remedy));
}

// The limit of a switch's queues; 0 = none.
static struct mmu_queue queue_limit(const struct fabric *fabric, uint32_t index)
{
    const struct queue_limit_spec *spec =
        &fabric->spec->dims[fabric_switch_dim(fabric, index)].sw.queue_limit;
    if (!fabric_queue_limit_at(fabric, index))
        return (struct mmu_queue){0};
    return (struct mmu_queue){.packets = spec->packets == PARAM_AUTO ? 0 : spec->packets,
                              .bytes = spec->bytes == PARAM_AUTO ? 0 : spec->bytes};
}

void fabric_buffer_init(struct fabric *fabric, uint32_t index, struct err *err)
{
    uint32_t dim = fabric_switch_dim(fabric, index);
    const struct switch_spec *spec = &fabric->spec->dims[dim].sw;
    const struct network *net = &fabric->net;
    struct switch_node *s = &fabric->switches.nodes[index];
    s->lossless = fabric_lossless(fabric, dim);
    uint32_t classes = net->n_slots - 1, n_lossless = (uint32_t)__builtin_popcount(s->lossless);
    uint64_t xon = spec->pfc.xon_offset_bytes, most = 0;
    uint64_t frame = fabric_largest_packets(fabric, dim).full_frame;
    struct mmu_config config = {.buffer_bytes = fabric->buffer_bytes[dim],
                                .reserve_bytes = spec->reserve_bytes,
                                .xon_offset_bytes = xon == PARAM_AUTO ? 2 * frame : xon,
                                .alpha = spec->pfc.alpha,
                                .lossy_alpha = spec->lossy_alpha,
                                .queue_limit = queue_limit(fabric, index)};
    struct mmu_ingress *ingress = memory_zeroed((size_t)s->n_ports * classes, sizeof *ingress);
    uint32_t far = s->first_port; // the port with the most headroom
    for (uint32_t p = 0; n_lossless > 0 && p < s->n_ports; p++) {
        uint32_t bytes = headroom_of(fabric, s->first_port + p, n_lossless);
        for (uint32_t cls = 0; cls < classes; cls++)
            if (s->lossless >> net->class_of_slot[cls + 1] & 1)
                ingress[p * classes + cls].headroom_limit = bytes;
        far = bytes > most ? s->first_port + p : far;
        most = bytes > most ? bytes : most;
    }
    uint64_t shared = mmu_init(&s->mmu, &config, ingress, s->n_ports, classes);
    for (unsigned slot = net->data_slot; slot < net->n_slots; slot++) {
        double alpha = spec->classes[net->class_of_slot[slot]].alpha;
        if (alpha != PARAM_AUTO_RATIO)
            s->mmu.alpha[slot - 1] = alpha;
    }
    s->cell_bytes = spec->cell_bytes > 1 ? (uint32_t)spec->cell_bytes : 0;
    if (shared == 0)
        headroom_error(fabric, index, far, n_lossless, err);
}

void fabric_slices_init(struct fabric *fabric, uint32_t index, struct err *err)
{
    struct switch_node *s = &fabric->switches.nodes[index];
    uint32_t n = (uint32_t)fabric->spec->dims[s->dim].sw.slices;
    char name[GRAPH_NAME], bytes[UNIT_TEXT];
    if (n < 2 || s->mmu.shared_bytes == 0)
        return;
    if (n > s->n_ports) {
        err_add(err, "switch.slices", "%u, but %s has only %u ports", n,
                fabric_switch_name(fabric, index, name), s->n_ports);
        return;
    }
    s->n_slices = n;
    s->slices = memory_zeroed(n, sizeof *s->slices);
    for (uint32_t i = 0; i < n; i++) {
        s->slices[i] = mmu_slice(&s->mmu, s->n_ports, i, n);
        if (s->slices[i].shared_bytes > 0)
            continue;
        err_add(err, "switch.slices",
                "headroom and reserve of the ports in slice %u of %s exceed its %s", i,
                fabric_switch_name(fabric, index, name),
                human_bytes(s->slices[i].config.buffer_bytes, bytes));
        return;
    }
}
