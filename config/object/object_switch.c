// SPDX-License-Identifier: MIT
// The `switch` object: buffer, trimming, pfc, ecn, routing, classes, reduction.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/object/objects.h"
#include "config/object/scenario_parts.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"

// ---- ecn: "auto", or settings ----

// The value of ecn_spec.mode in a scenario.
struct ecn_switch {
    bool enabled;
};

static const struct param ecn_switch_params[] = {
    PARAM_ROW(ENABLED, BOOL, offsetof(struct ecn_switch, enabled), .def = "true",
              .help = "mark packets"),
};
enum { N_ECN_SWITCH_PARAMS = sizeof ecn_switch_params / sizeof *ecn_switch_params };

static void ecn_defaults(void *value)
{
    struct ecn_spec *ecn = value;
    params_default(ecn_params, n_ecn_params, ecn);
    ecn->mode = ECN_AUTO;
}

static void ecn_check(struct reader *r, const struct place *place, const struct ecn_spec *ecn)
{
    if (ecn->kmin_bytes > ecn->kmax_bytes) {
        char kmin[UNIT_TEXT], kmax[UNIT_TEXT];
        struct place at = place_key(place, "kmin");
        place_error(r->err, &at, "%s exceeds kmax %s", format_bytes(ecn->kmin_bytes, kmin),
                    format_bytes(ecn->kmax_bytes, kmax));
    }
    if (ecn_counts_packets(ecn) && ecn->at != ECN_AT_ARRIVAL) {
        struct place at = place_key(place, "kmin_packets");
        place_error(r->err, &at, "needs \"at\": \"arrival\"");
    }
    if (!ecn_counts_packets(ecn) && ecn->kmax_packets != PARAM_AUTO) {
        struct place at = place_key(place, "kmax_packets");
        place_error(r->err, &at, "needs kmin_packets");
    }
    if (ecn_counts_packets(ecn) && ecn->kmin_packets > ecn->kmax_packets) {
        struct place at = place_key(place, "kmin_packets");
        place_error(r->err, &at, "%" PRIu64 " exceeds kmax_packets %" PRIu64, ecn->kmin_packets,
                    ecn->kmax_packets);
    }
    if (ecn->pi_b > ecn->pi_a) {
        struct place at = place_key(place, "pi_b");
        place_error(r->err, &at, "%g exceeds pi_a %g: the PI controller would be unstable",
                    ecn->pi_b, ecn->pi_a);
    }
}

static void ecn_read(struct reader *r, const struct place *place, void *value)
{
    struct ecn_spec *ecn = value;
    struct keys keys = {0};
    const char *word = json_string_value(place->json);
    // "auto" leaves the thresholds to the policies of the scenario.
    if (word != NULL && strcmp(word, "auto") == 0) {
        ecn->mode = ECN_AUTO;
        return;
    }
    if (place->json == NULL)
        return;
    if (!json_is_object(place->json)) {
        char meant[OBJECT_TEXT];
        place_error(r->err, place, "must be \"auto\" or an object, not %s%s",
                    json_noun(place->json), object_meant(place->json, ENABLED, meant));
        return;
    }
    // An object that leaves out `enabled` marks packets, unless marking is off in the object that
    // it refines.
    struct ecn_switch mark = {.enabled = ecn->mode != ECN_OFF};
    read_params(r, place, &keys, ecn_switch_params, N_ECN_SWITCH_PARAMS, &mark);
    read_params(r, place, &keys, ecn_params, n_ecn_params, ecn);
    keys_check(r, place, &keys);
    ecn->mode = mark.enabled ? ECN_ON : ECN_OFF;
    ecn_check(r, place, ecn);
}

static json_t *ecn_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct ecn_spec *ecn = value;
    if (ecn->mode == ECN_AUTO)
        return json_string("auto");
    struct ecn_switch mark = {.enabled = ecn->mode == ECN_ON};
    json_t *json = params_json(ecn_switch_params, N_ECN_SWITCH_PARAMS, &mark);
    write_params(json, ecn_params, n_ecn_params, ecn);
    return json;
}

static json_t *ecn_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    json_t *ecn = schema_table(ecn_switch_params, N_ECN_SWITCH_PARAMS);
    schema_params(ecn, ecn_params, n_ecn_params);
    return json_pack("{s:[o,o]}", "anyOf", schema_constant("auto"), ecn);
}

static void ecn_keys(const struct object_entry *entry, const char *prefix,
                     const struct key_sink *to)
{
    (void)entry;
    to->table(to->ctx, prefix, ecn_switch_params, N_ECN_SWITCH_PARAMS);
    to->table(to->ctx, prefix, ecn_params, n_ecn_params);
}

// ---- classes: settings by class number, {"3": {..}, "0": {..}} ----

static void classes_defaults(void *value)
{
    struct class_spec *classes = value;
    for (unsigned cls = 0; cls < SWITCH_CLASSES; cls++)
        params_default(class_params, n_class_params, &classes[cls]);
}

static void class_read(struct reader *r, const struct place *place, struct class_spec *cls)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    cls->given = true;
    read_params(r, place, &keys, class_params, n_class_params, cls);
    keys_check(r, place, &keys);
}

// The class number that a key names, or SWITCH_CLASSES if it names none.
static unsigned class_number(const char *name)
{
    // A single digit; a longer key, such as "10", names no class.
    unsigned cls = (unsigned)name[0] - '0';
    return cls < SWITCH_CLASSES && name[1] == '\0' ? cls : SWITCH_CLASSES;
}

static void classes_read(struct reader *r, const struct place *place, void *value)
{
    struct class_spec *classes = value;
    const char *name;
    json_t *json;
    if (!read_object(r, place))
        return;
    json_object_foreach(place->json, name, json)
    {
        struct place at = place_key(place, name);
        unsigned cls = class_number(name);
        if (cls < SWITCH_CLASSES)
            class_read(r, &at, &classes[cls]);
        else
            place_error(r->err, &at,
                        "is not a class of data: 0 to %d (6 is for control, 7 reserved)",
                        SWITCH_CLASSES - 1);
    }
}

// Writes the classes that the scenario names; the others have the defaults of the table.
static json_t *classes_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct class_spec *given = value;
    json_t *classes = json_object();
    for (unsigned cls = 0; cls < SWITCH_CLASSES; cls++) {
        char name[] = {(char)('0' + cls), '\0'};
        if (given[cls].given)
            json_object_set_new(classes, name,
                                params_json(class_params, n_class_params, &given[cls]));
    }
    return classes;
}

static json_t *classes_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    json_t *classes = schema_object();
    for (unsigned cls = 0; cls < SWITCH_CLASSES; cls++) {
        char name[] = {(char)('0' + cls), '\0'};
        schema_key(classes, name, schema_table(class_params, n_class_params), false);
    }
    return classes;
}

static void classes_keys(const struct object_entry *entry, const char *prefix,
                         const struct key_sink *to)
{
    (void)entry;
    char inner[64];
    snprintf(inner, sizeof inner, "%s.N", prefix);
    to->table(to->ctx, inner, class_params, n_class_params);
}

// ---- the object ----

// A lossless class needs PFC. Checked after reading, so the order of the two keys does not matter.
static void switch_finish(struct reader *r, const struct place *place, void *value)
{
    const struct switch_spec *sw = value;
    struct place classes = place_key(place, "classes");
    const char *name;
    json_t *json;
    json_object_foreach(classes.json, name, json)
    {
        unsigned cls = class_number(name);
        struct place at = place_key(&classes, name), lossless = place_key(&at, "lossless");
        // A class that is no object has been reported when it was read.
        if (cls < SWITCH_CLASSES && json_is_object(json) && !sw->pfc.enabled &&
            sw->classes[cls].lossless == LOSSLESS_ON)
            place_error(r->err, &lossless, "a lossless class needs pfc.enabled");
    }
}

static const struct object pfc_object = {
    .key = "pfc",
    .doc = "priority flow control",
    .params = pfc_params,
    .n_params = &n_pfc_params,
    .offset = offsetof(struct switch_spec, pfc),
};

static const struct object trimming_object = {
    .key = "trimming",
    .doc = "packets that would be dropped lose their payload instead",
    .params = trimming_params,
    .n_params = &n_trimming_params,
    .offset = offsetof(struct switch_spec, trimming),
};

static const struct object ecn_object = {
    .key = "ecn",
    .doc = "auto = what the policy expects; an object holds as given",
    .type = "\"auto\" or object",
    .def = "auto",
    .offset = offsetof(struct switch_spec, ecn),
    .defaults = ecn_defaults,
    .read = ecn_read,
    .write = ecn_write,
    .schema = ecn_schema,
    .keys = ecn_keys,
};

static const struct object routing_object = {
    .key = "routing",
    .doc = "choice among equal paths",
    .params = routing_params,
    .n_params = &n_routing_params,
    .offset = offsetof(struct switch_spec, routing),
};

static const struct object classes_object = {
    .key = "classes",
    .doc = "settings of traffic classes",
    .offset = offsetof(struct switch_spec, classes),
    .defaults = classes_defaults,
    .read = classes_read,
    .write = classes_write,
    .schema = classes_schema,
    .keys = classes_keys,
};

static const struct object reduction_object = {
    .key = "reduction",
    .doc = "aggregators that add inside the switch what ranks send",
    .params = reduction_params,
    .n_params = &n_reduction_params,
    .offset = offsetof(struct switch_spec, reduction),
};

static const struct object *const switch_parts[] = {
    &queue_limit_object, &trimming_object, &pfc_object,       &ecn_object,
    &routing_object,     &classes_object,  &reduction_object, NULL};

const struct object switch_object = {
    .key = "switch",
    .doc = "output-queued switch with a shared buffer",
    .shared = true,
    .params = switch_params,
    .n_params = &n_switch_params,
    .offset = offsetof(struct scenario, base.sw),
    .parts = switch_parts,
    .finish = switch_finish,
};
