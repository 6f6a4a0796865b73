// SPDX-License-Identifier: MIT
// The `switch` object: buffer, pfc, ecn, routing, classes.
#include <string.h>

#include "config/read.h"

static void read_pfc(struct reader *r, const struct place *place, struct pfc_spec *pfc)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    read_params(r, place, &keys, pfc_params, n_pfc_params, pfc);
    keys_check(r, place, &keys);
}

static void read_ecn(struct reader *r, const struct place *place, struct ecn_spec *ecn)
{
    struct keys keys = {0};
    const char *word = json_string_value(place->json);
    if (word != NULL && strcmp(word, "auto") == 0) {
        ecn->mode = ECN_AUTO;
        return;
    }
    if (place->json == NULL)
        return;
    if (!json_is_object(place->json)) {
        place_error(r->err, place, "must be \"auto\" or an object, not %s", json_noun(place->json));
        return;
    }
    struct ecn_switch mark = {.enabled = ecn->mode != ECN_OFF};
    read_params(r, place, &keys, ecn_switch_params, n_ecn_switch_params, &mark);
    read_params(r, place, &keys, ecn_params, n_ecn_params, ecn);
    keys_check(r, place, &keys);
    ecn->mode = mark.enabled ? ECN_ON : ECN_OFF;
    if (ecn->kmin_bytes > ecn->kmax_bytes) {
        char kmin[UNIT_TEXT], kmax[UNIT_TEXT];
        struct place at = place_key(place, "kmin");
        place_error(r->err, &at, "%s exceeds kmax %s", format_bytes(ecn->kmin_bytes, kmin),
                    format_bytes(ecn->kmax_bytes, kmax));
    }
    if (ecn->pi_b > ecn->pi_a) {
        struct place at = place_key(place, "pi_b");
        place_error(r->err, &at, "%g exceeds pi_a %g: the probability would not come to rest",
                    ecn->pi_b, ecn->pi_a);
    }
}

static void read_routing(struct reader *r, const struct place *place, struct routing_spec *routing)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    read_params(r, place, &keys, routing_params, n_routing_params, routing);
    keys_check(r, place, &keys);
}

static void read_class(struct reader *r, const struct place *place, const struct pfc_spec *pfc,
                       struct class_spec *cls)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    cls->given = true;
    read_params(r, place, &keys, class_params, n_class_params, cls);
    keys_check(r, place, &keys);
    if (cls->lossless == LOSSLESS_ON && !pfc->enabled) {
        struct place at = place_key(place, "lossless");
        place_error(r->err, &at, "a lossless class needs pfc.enabled");
    }
}

// Settings by class number: {"3": {..}, "0": {..}}.
static void read_classes(struct reader *r, const struct place *place, struct switch_spec *sw)
{
    const char *name;
    json_t *value;
    if (!read_object(r, place))
        return;
    json_object_foreach(place->json, name, value)
    {
        struct place at = place_key(place, name);
        unsigned cls = (unsigned)name[0] - '0';
        if (cls < SWITCH_CLASSES && name[1] == '\0')
            read_class(r, &at, &sw->pfc, &sw->classes[cls]);
        else
            place_error(r->err, &at,
                        "is not a class of data: 0 to %d (6 is for control, 7 reserved)",
                        SWITCH_CLASSES - 1);
    }
}

void read_switch(struct reader *r, const struct place *place, struct switch_spec *sw)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    struct place pfc = place_key(place, "pfc"), ecn = place_key(place, "ecn"),
                 routing = place_key(place, "routing"), classes = place_key(place, "classes");
    read_params(r, place, &keys, switch_params, n_switch_params, sw);
    read_pfc(r, &pfc, &sw->pfc);
    read_ecn(r, &ecn, &sw->ecn);
    read_routing(r, &routing, &sw->routing);
    read_classes(r, &classes, sw);
    keys_add(&keys, "pfc");
    keys_add(&keys, "ecn");
    keys_add(&keys, "routing");
    keys_add(&keys, "classes");
    keys_check(r, place, &keys);
}
