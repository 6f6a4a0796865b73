// SPDX-License-Identifier: MIT
// The advice on a scenario as JSON.
#include "sim/advice/advice.h"

#include <jansson.h>

#include "library/handle.h"
#include "library/plain_locale.h"
#include "sim/sim.h"

static json_t *warnings_json(const struct advice *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->n_warnings; i++) {
        const struct advice_warning *w = &a->warnings[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", advice_kind_word(w->kind),
                                              "key", w->key, "text", w->text));
    }
    return list;
}

static json_t *autos_json(const struct advice *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->n_autos; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "key", a->autos[i].key, "value",
                                              a->autos[i].value, "rule", a->autos[i].rule));
    return list;
}

char *collwire_sim_advice(const struct collwire_sim *s)
{
    struct plain_locale locale = plain_locale_begin();
    struct advice *a = sim_advice(simulation_of(s));
    json_t *root = json_pack("{s:o, s:o}", "warnings", warnings_json(a), "auto", autos_json(a));
    char *text = json_dumps(root, JSON_INDENT(1));
    json_decref(root);
    advice_free(a);
    plain_locale_end(locale);
    return text;
}
