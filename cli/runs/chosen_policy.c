// SPDX-License-Identifier: MIT
// The scenario is loaded first without the policy, because which keys a policy sets depends on the
// transports, and then with them.
#include "cli/runs/chosen_policy.h"

#include <stdlib.h>

#include "config/draft.h"
#include "config/policy_choice.h"

static struct collwire_scenario *load_with(const struct options *o, const struct draft *draft,
                                           const struct policy_choice *choice, struct err *err)
{
    struct options with = *o;
    with.sets = NULL;
    with.n_sets = 0;
    options_set_all(&with, o->sets, o->n_sets);
    options_set_all(&with, choice->sets, choice->n_sets);
    struct collwire_scenario *scenario = scenario_of_json(&with, draft->json, draft->folder, err);
    free(with.sets);
    return scenario;
}

struct collwire_scenario *scenario_chosen(const struct options *o, const char *path,
                                          struct err *err)
{
    if (!o->cc)
        return scenario_open(o, path, o->sets, o->n_sets, err);
    struct draft draft = {0};
    struct policy_choice *choices = NULL;
    struct collwire_scenario *base = NULL, *scenario = NULL;
    size_t n = 0;
    if (draft_read(&draft, path, err) == 0)
        base = scenario_of_json(o, draft.json, draft.folder, err);
    if (base)
        n = policy_choices_read(o->cc, scenario_of(base), &choices, err);
    if (base && err->n_errors == 0 && n != 1)
        err_add(err, "--cc", "\"%s\" is not one policy: collwire compare runs several", o->cc);
    if (base && err->n_errors == 0) {
        err_drop_warnings(err); // the scenario that is run has its own
        scenario = load_with(o, &draft, &choices[0], err);
    }
    policy_choices_free(choices, n);
    collwire_scenario_free(base);
    draft_free(&draft);
    return scenario;
}
