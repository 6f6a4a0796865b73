// SPDX-License-Identifier: MIT
// The values of settings that the scenario leaves "auto": of switches, transports and policies. A
// policy computes its own for each flow; here the rule that its table states stands for them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/advice/advice_internal.h"
#include "switch/telemetry.h"

// The smallest and the largest value of a setting.
struct range {
    uint64_t low, high;
    bool any;
};

static void range_add(struct range *r, uint64_t value)
{
    r->low = !r->any || value < r->low ? value : r->low;
    r->high = !r->any || value > r->high ? value : r->high;
    r->any = true;
}

static void put_bytes(struct advice *a, uint32_t d, const char *key, const struct range *r)
{
    char low[UNIT_TEXT], high[UNIT_TEXT], text[2 * UNIT_TEXT + 8];
    if (!r->any)
        return;
    human_bytes(r->low, low);
    human_bytes(r->high, high);
    // Values that differ by less than the rounding of human_bytes() are shown as one.
    bool one = strcmp(low, high) == 0;
    snprintf(text, sizeof text, "%s%s%s", low, one ? "" : " to ", one ? "" : high);
    advice_auto(a, key, d, text, false);
}

/* ---- switches ---- */

// A buffer other than that of links of up to 400 Gb/s.
static bool buffer_grown(const struct fabric *fabric, uint32_t d)
{
    return fabric->buffer_bytes[d] != FABRIC_BUFFER_BYTES;
}

static void of_buffers(struct advice *a, const struct fabric *fabric, uint32_t d)
{
    const struct switch_spec *sw = &fabric->spec->dims[d].sw;
    struct range headroom = {0}, xon = {0}, credit = {0};
    uint32_t n = fabric->switches.n_switches + fabric->switches.n_routers;
    for (uint32_t i = 0; i < n; i++) {
        const struct switch_node *s = &fabric->switches.nodes[i];
        // Only lossless classes have headroom and an XON threshold.
        if (fabric_switch_dim(fabric, i) != d || s->lossless == 0)
            continue;
        range_add(&xon, s->mmu.config.xon_offset_bytes);
        for (uint32_t k = 0; k < s->n_ports * s->mmu.n_classes; k++)
            if (s->mmu.ingress[k].headroom_limit > 0)
                range_add(&headroom, s->mmu.ingress[k].headroom_limit);
        for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++)
            range_add(&credit, fabric_credit_bytes(fabric, p));
    }
    if (sw->buffer_bytes == PARAM_AUTO && n > 0 && buffer_grown(fabric, d))
        put_bytes(a, d, "switch.buffer",
                  &(struct range){fabric->buffer_bytes[d], fabric->buffer_bytes[d], true});
    // PFC and credits exclude each other, so only the settings of the one in use are shown.
    bool credits = fabric_uses_credits(fabric, d);
    if (sw->pfc.headroom_bytes == PARAM_AUTO && !credits)
        put_bytes(a, d, "switch.pfc.headroom", &headroom);
    if (sw->pfc.xon_offset_bytes == PARAM_AUTO && !credits)
        put_bytes(a, d, "switch.pfc.xon_offset", &xon);
    if (sw->credit_bytes == PARAM_AUTO && credits)
        put_bytes(a, d, "switch.credit", &credit);
}

// Thresholds of the ports of a dimension, for all classes.
static void of_marking(struct advice *a, const struct fabric *fabric, uint32_t d)
{
    struct range kmin = {0}, kmax = {0};
    uint32_t n = fabric->switches.n_switches + fabric->switches.n_routers;
    if (fabric->spec->dims[d].sw.ecn.mode != ECN_AUTO)
        return;
    for (uint32_t i = 0; i < n; i++) {
        const struct switch_node *s = &fabric->switches.nodes[i];
        const struct marking *markings =
            &fabric->switches.markings[s->first_port * fabric->net.n_data];
        for (uint32_t k = 0; k < s->n_ports * fabric->net.n_data; k++)
            if (fabric_switch_dim(fabric, i) == d && markings[k].enabled) {
                range_add(&kmin, markings[k].kmin_bytes);
                range_add(&kmax, markings[k].kmax_bytes);
            }
    }
    put_bytes(a, d, "switch.ecn.kmin", &kmin);
    put_bytes(a, d, "switch.ecn.kmax", &kmax);
    // With `auto`, no port marks if no policy of the dimension uses ECN.
    if (!kmin.any)
        advice_auto(a, "switch.ecn", d, "off", true);
}

static void of_switches(struct advice *a, const struct fabric *fabric, uint32_t d)
{
    static const char *const modes[] = {[INT_OFF] = "off",
                                        [INT_EXACT] = "on, exact",
                                        [INT_HPCC64] = "on, hpcc64",
                                        [INT_PINT] = "on, a byte a packet"};
    const struct switch_spec *sw = &fabric->spec->dims[d].sw;
    of_buffers(a, fabric, d);
    of_marking(a, fabric, d);
    // The mode follows from the settings of the dimension, so its first switch stands for all.
    for (uint32_t i = 0; i < fabric->switches.n_switches && sw->telemetry == TELEMETRY_AUTO; i++)
        if (fabric_switch_dim(fabric, i) == d) {
            enum int_mode mode = (enum int_mode)fabric->switches.nodes[i].int_mode;
            advice_auto(a, "switch.int", d, modes[mode], mode == INT_OFF);
            break;
        }
    if (sw->queue_limit.bytes == PARAM_AUTO && sw->queue_limit.packets == PARAM_AUTO)
        advice_auto(a, "switch.queue_limit", d, "none", true);
}

/* ---- transports ---- */

// The classes of the data of a transport: "3", "0, 3".
static void of_class(struct advice *a, const struct fabric *fabric, uint32_t d, uint32_t t,
                     const char *key)
{
    const struct spec *spec = fabric->spec;
    char text[UNIT_TEXT] = "";
    size_t used = 0;
    for (unsigned cls = 0; cls < NET_DATA_CLASSES; cls++)
        for (size_t j = 0; j < spec->n_jobs; j++)
            if (spec->jobs[j].transport == t && fabric_job_class(spec, d, j) == cls) {
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%u",
                                         used > 0 ? ", " : "", cls);
                break;
            }
    if (used > 0)
        advice_auto(a, key, d, text, true);
}

static void of_transport(struct advice *a, const struct fabric *fabric, uint32_t d, uint32_t t)
{
    const struct transport_dim *dim = hosts_dim(&fabric->hosts, d, t);
    struct transport_auto autos[TRANSPORT_AUTOS];
    struct advice_path p;
    char object[48] = "transport", key[96];
    if (fabric->hosts.n_transports > 1)
        snprintf(object, sizeof object, "transport[%u]", t);
    if (dim->ops->autos && advice_path(fabric, d, t, &p)) {
        size_t n = dim->ops->autos(dim, &p.path, autos);
        for (size_t i = 0; i < n; i++) {
            bool quantity = autos[i].text[0] >= '0' && autos[i].text[0] <= '9';
            snprintf(key, sizeof key, "%s.%s", object, autos[i].key);
            advice_auto(a, key, d, autos[i].text, !quantity);
        }
    }
    snprintf(key, sizeof key, "%s.class", object);
    if (dim->spec.cls == PARAM_AUTO)
        of_class(a, fabric, d, t, key);
}

/* ---- policies ---- */

static bool is_auto(const struct param *row, const void *params)
{
    char text[PARAM_TEXT_MAX];
    return row->can_auto && strcmp(param_text(row, params, text), "auto") == 0;
}

// What the table says of "auto": the words after "auto = ".
static void of_policy(struct advice *a, const struct fabric *fabric, uint32_t d, uint32_t t)
{
    const struct transport_dim *dim = hosts_dim(&fabric->hosts, d, t);
    struct param_walk walk = params_walk(dim->cc->params, dim->cc->n_params);
    const struct param *row;
    char key[96];
    while ((row = params_next(&walk)) != NULL) {
        const char *rule = row->help ? strstr(row->help, "auto = ") : NULL;
        if (!rule || !is_auto(row, dim->cc_params))
            continue;
        if (fabric->hosts.n_transports > 1)
            snprintf(key, sizeof key, "cc[%u].%s", t, row->name);
        else
            snprintf(key, sizeof key, "cc.%s", row->name);
        advice_auto(a, key, d, rule + strlen("auto = "), true);
    }
}

void advise_autos(struct advice *a, const struct fabric *fabric)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        of_switches(a, fabric, d);
        for (uint32_t t = 0; t < fabric->hosts.n_transports; t++) {
            of_transport(a, fabric, d, t);
            of_policy(a, fabric, d, t);
        }
    }
}
