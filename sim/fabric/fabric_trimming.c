// SPDX-License-Identifier: MIT
// Trimming of switches: which classes they trim, and whether the transports of a scenario take it.
#include <stdio.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"

static bool takes_trimmed(const struct transport_dim *dim) { return dim->ops->on_trimmed != NULL; }

// Classes of the jobs whose transports take trimmed packets, or do not (`taking`). Every job counts
// in every dimension, since the dimensions of its messages are not known before the run.
static uint8_t job_classes(const struct fabric *fabric, uint32_t d, bool taking)
{
    const struct spec *spec = fabric->spec;
    uint8_t classes = 0;
    for (size_t j = 0; j < spec->n_jobs; j++)
        if (takes_trimmed(hosts_dim(&fabric->hosts, d, spec->jobs[j].transport)) == taking)
            classes |= fabric_job_classes(spec, d, j);
    return classes;
}

static uint8_t lossy_classes(const struct fabric *fabric, uint32_t d, bool taking)
{
    return (uint8_t)(job_classes(fabric, d, taking) & ~fabric_lossless(fabric, d));
}

static bool trims(const struct fabric *fabric, uint32_t d)
{
    return fabric->spec->dims[d].sw.trimming.enabled;
}

// Limit of the control class in bytes: the given one, or twice the queue limit of data; 0 = none.
static uint64_t control_limit(const struct fabric *fabric, uint32_t d)
{
    const struct switch_spec *sw = &fabric->spec->dims[d].sw;
    uint64_t full = fabric_largest_packets(fabric, d).full_frame;
    if (sw->trimming.control_limit_bytes != PARAM_AUTO)
        return sw->trimming.control_limit_bytes;
    if (sw->queue_limit.bytes != PARAM_AUTO)
        return 2 * sw->queue_limit.bytes;
    return sw->queue_limit.packets != PARAM_AUTO ? 2 * full * sw->queue_limit.packets : 0;
}

void fabric_trimming_init(struct fabric *fabric, uint32_t index)
{
    struct switch_node *s = &fabric->switches.nodes[index];
    const struct trimming_spec *spec = &fabric->spec->dims[s->dim].sw.trimming;
    // Without trimming a switch needs no room for trimmed packets, and drops whole ones.
    if (!trims(fabric, s->dim))
        return;
    struct packet_sizes size = packet_sizes_of_frame(&hosts_dim(&fabric->hosts, s->dim, 0)->spec,
                                                     (uint32_t)spec->size_bytes);
    s->trimming = (struct trimming){.classes = lossy_classes(fabric, s->dim, true),
                                    .victim = (uint8_t)spec->victim,
                                    .frame_bytes = (uint16_t)size.frame,
                                    .wire_bytes = (uint16_t)size.wire};
    mmu_set_limit(&s->mmu, mmu_class(&fabric->net, NET_CLASS_CONTROL),
                  (struct mmu_queue){.bytes = control_limit(fabric, s->dim)});
    if (!fabric->switches.trims)
        fabric->switches.trims = memory_zeroed(fabric->net.n_ports, sizeof *fabric->switches.trims);
    // Each port draws from a random stream of its own, so that its draws do not depend on the
    // traffic of other ports.
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++) {
        fabric->switches.trims[p].coin = rng_init(fabric->spec->seed, RNG_TRIM, p);
        network_set_control_share(&fabric->net, p, spec->control_share);
    }
}

// Report the errors of a transport's settings that only trimming causes.
static void check_transport(const struct transport_dim *dim, struct err *err)
{
    // All other errors of a transport have been reported where the scenario is read.
    const struct transport_network network = {.trims = true, .lossless = true};
    struct transport_finding found[TRANSPORT_FINDINGS];
    size_t n = dim->ops->check ? dim->ops->check(&dim->spec, &network, found) : 0;
    for (size_t i = 0; i < n; i++)
        if (found[i].error) {
            char path[64];
            snprintf(path, sizeof path, "transport.%s", found[i].key);
            err_add(err, path, "%s", found[i].text);
        }
}

static void check_dim(const struct fabric *fabric, uint32_t d, struct err *err)
{
    const struct spec *spec = fabric->spec;
    uint8_t takes = lossy_classes(fabric, d, true), others = lossy_classes(fabric, d, false);
    bool checked[SPEC_MAX_STACKS] = {false};
    for (size_t j = 0; j < spec->n_jobs; j++) {
        uint32_t t = spec->jobs[j].transport;
        // Jobs may share a transport, whose error is reported once.
        if (checked[t] || !(takes >> fabric_job_class(spec, d, j) & 1))
            continue;
        checked[t] = true;
        check_transport(hosts_dim(&fabric->hosts, d, t), err);
    }
    // Packets of both kinds wait in one queue of the class, and a switch does not distinguish
    // transports.
    if (takes & others)
        err_add(err, "switch.trimming.enabled",
                "class %d also carries packets of a transport that does not take trimmed "
                "packets: give the jobs different classes",
                __builtin_ctz(takes & others));
    else if (takes == 0)
        err_warn(err, "switch.trimming.enabled", "no packet will be trimmed: %s",
                 others ? "the transports of the lossy classes do not take trimmed packets"
                        : "every class of data is lossless (pfc.enabled, classes)");
}

void fabric_check_trimming(const struct fabric *fabric, struct err *err)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        if (trims(fabric, d))
            check_dim(fabric, d, err);
}
