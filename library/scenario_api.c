// SPDX-License-Identifier: MIT
// Policies and scenarios of the library.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "library/handles.h"
#include "library/plain_locale.h"

/* ---- policies ---- */

struct collwire_policies *collwire_policies_new(const struct collwire_loader *loader)
{
    struct policies *p = memory_zeroed(1, sizeof *p);
    *p = policies_builtin(loader);
    return (struct collwire_policies *)p;
}

void collwire_policies_free(struct collwire_policies *p)
{
    if (p)
        policies_free(policies_of(p));
    free(p);
}

int collwire_policies_add(struct collwire_policies *p, const char *file,
                          struct collwire_messages *m)
{
    struct plain_locale locale = plain_locale_begin();
    int status = policies_load(policies_of(p), "plugin", file, err_of(m));
    plain_locale_end(locale);
    return status;
}

void collwire_policies_allow(struct collwire_policies *p, int allowed)
{
    policies_of(p)->scenarios_may_load = allowed != 0;
}

const char *collwire_policies_name(const struct collwire_policies *p, size_t i)
{
    const struct cc_catalogue *catalogue = &policies_of(p)->catalogue;
    return i < catalogue->n ? catalogue->policies[i]->name : NULL;
}

char *collwire_policies_schema(const struct collwire_policies *p)
{
    struct plain_locale locale = plain_locale_begin();
    char *text = schema_text(&policies_of(p)->catalogue);
    plain_locale_end(locale);
    return text;
}

/* ---- scenarios ---- */

struct collwire_scenario *collwire_scenario_load(const char *file,
                                                 const struct collwire_setting *settings, size_t n,
                                                 const struct collwire_policies *policies,
                                                 struct collwire_messages *m)
{
    struct plain_locale locale = plain_locale_begin();
    struct scenario *s = scenario_load(file, settings, n, policies_of(policies), err_of(m));
    plain_locale_end(locale);
    return (struct collwire_scenario *)s;
}

struct collwire_scenario *collwire_scenario_parse(const char *text, const char *folder,
                                                  const struct collwire_setting *settings, size_t n,
                                                  const struct collwire_policies *policies,
                                                  struct collwire_messages *m)
{
    struct plain_locale locale = plain_locale_begin();
    struct scenario *s =
        scenario_parse(text, folder, settings, n, policies_of(policies), err_of(m));
    plain_locale_end(locale);
    return (struct collwire_scenario *)s;
}

void collwire_scenario_free(struct collwire_scenario *s) { scenario_free(scenario_of(s)); }

const char *collwire_scenario_name(const struct collwire_scenario *s)
{
    return scenario_spec(scenario_of(s))->name;
}

uint64_t collwire_scenario_seed(const struct collwire_scenario *s)
{
    return scenario_spec(scenario_of(s))->seed;
}

char *collwire_scenario_policy(const struct collwire_scenario *s)
{
    char names[256];
    return memory_text(spec_policy_names(scenario_spec(scenario_of(s)), names, sizeof names));
}

const char *collwire_scenario_capture(const struct collwire_scenario *s, size_t i)
{
    const struct spec *spec = scenario_spec(scenario_of(s));
    return i < spec->n_captures ? spec->captures[i].file : NULL;
}

int collwire_scenario_has_packets(const struct collwire_scenario *s)
{
    return scenario_spec(scenario_of(s))->network != NETWORK_ANALYTICAL;
}

const char *collwire_scenario_json(const struct collwire_scenario *s)
{
    return scenario_resolved(scenario_of(s));
}
