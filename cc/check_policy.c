// SPDX-License-Identifier: MIT
// Checks that a policy follows this contract and that its parameters and presets are sound. Meant
// for policies from outside; a test applies it to the built-in ones.
#include <stdio.h>
#include <string.h>

#include "cc/cc.h"

// ---- the contract ----

static const struct cc_contract ours = CC_CONTRACT;

static int size_check(const char *name, const char *what, uint32_t theirs_bytes, uint32_t bytes,
                      struct err *err)
{
    if (theirs_bytes == bytes)
        return 0;
    return err_add(err, name, "was compiled for a %s of %u bytes, here it has %u", what,
                   (unsigned)theirs_bytes, (unsigned)bytes);
}

static int contract_check(const struct cc_contract *c, struct err *err)
{
    size_t errors = err->n_errors;
    const char *where = "policy";
    if (c->version != ours.version)
        return err_add(err, where, "is of version %u of the contract, here it is version %u",
                       (unsigned)c->version, (unsigned)ours.version);
    size_check(where, "struct cc_ops", c->ops_bytes, ours.ops_bytes, err);
    size_check(where, "struct cc", c->cc_bytes, ours.cc_bytes, err);
    size_check(where, "struct cc_env", c->env_bytes, ours.env_bytes, err);
    size_check(where, "struct cc_ack", c->ack_bytes, ours.ack_bytes, err);
    size_check(where, "struct cc_signal", c->signal_bytes, ours.signal_bytes, err);
    size_check(where, "struct cc_post", c->post_bytes, ours.post_bytes, err);
    size_check(where, "struct cc_credits", c->credits_bytes, ours.credits_bytes, err);
    size_check(where, "struct cc_preset", c->preset_bytes, ours.preset_bytes, err);
    size_check(where, "struct param", c->param_bytes, ours.param_bytes, err);
    size_check(where, "struct int_hop", c->hop_bytes, ours.hop_bytes, err);
    size_check(where, "struct cc_helpers", c->helpers_bytes, ours.helpers_bytes, err);
    return err->n_errors == errors ? 0 : -1;
}

static void extras_check(const struct cc_ops *ops, struct err *err)
{
    const struct cc_extras *extras = ops->extras;
    size_t errors = err->n_errors;
    size_check(ops->name, "struct cc_extras", extras->bytes, sizeof *extras, err);
    if (err->n_errors > errors)
        return;
    size_check(ops->name, "struct cc_growth", extras->growth_bytes, sizeof(struct cc_growth), err);
    if (extras->host != NULL)
        err_add(err, ops->name, "sets a field that is for the program alone");
}

// ---- parameters and presets ----

static bool word_valid(const char *word)
{
    return word != NULL && word[0] != '\0' &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

#define PATH_BYTES 128

static const char *path_of(const struct cc_ops *ops, const char *key, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s.%s", ops->name, key);
    return path;
}

static bool name_taken(const struct cc_ops *ops, const struct param *param)
{
    size_t n = 0;
    struct param_walk walk = params_walk(ops->params, ops->n_params);
    for (const struct param *other; (other = params_next(&walk)) != NULL;)
        n += strcmp(other->name, param->name) == 0;
    return n > 1 || strcmp(param->name, "kind") == 0 || strcmp(param->name, "preset") == 0;
}

// Check names and types of the rows, which a search of the table relies on. Returns 0, or -1 with
// an error.
static int rows_check(const struct cc_ops *ops, struct err *err)
{
    struct param_walk walk = params_walk(ops->params, ops->n_params);
    for (const struct param *param; (param = params_next(&walk)) != NULL;) {
        if (!word_valid(param->name))
            return err_add(err, ops->name,
                           "names of parameters must be words like those of policies");
        if ((unsigned)param->type > PARAM_LINE_RATE || param->type == PARAM_TEXT ||
            (param->type == PARAM_ENUM && param->choices == NULL))
            return err_add(err, ops->name, "parameter %s has no type that policies can have",
                           param->name);
    }
    return 0;
}

static void param_check(const struct cc_ops *ops, const struct param *param, void *params,
                        struct err *err)
{
    char path[PATH_BYTES];
    size_t size = param_size(param->type), unit = size < alignof(double) ? size : alignof(double);
    path_of(ops, param->name, path);
    if (name_taken(ops, param))
        err_add(err, path, "is already the name of a key");
    if (param->help == NULL)
        err_add(err, path, "needs a help text");
    if (size > ops->params_bytes || param->offset > ops->params_bytes - size)
        err_add(err, path, "lies outside of the parameters' %zu bytes", ops->params_bytes);
    else if (param->offset % unit != 0)
        err_add(err, path, "its offset does not fit its type");
    else if (param->def == NULL)
        err_add(err, path, "needs a default");
    else
        param_set(param, params, param->def, path, err);
}

static void profile_check(const struct cc_ops *ops, const struct cc_preset *preset, struct err *err)
{
    const struct cc_profile *p = &preset->profile;
    const struct cc_notification *n = &preset->notification;
    bool by_bdp = p->kmax_bdp > 0;
    bool marks = p->pmax >= 0 && p->pmax <= 1 &&
                 (by_bdp ? p->kmin_bdp >= 0 && p->kmin_bdp <= p->kmax_bdp
                         : p->kmin_bytes <= p->kmax_bytes && (!p->scaled || p->ref_bps > 0));
    if (p->ecn && !marks)
        err_add(err, ops->name,
                "preset %s: marks need kmin up to kmax, pmax from 0 to 1, and a rate if they "
                "are scaled",
                preset->name);
    if (by_bdp && !(ops->needs & CC_NEEDS_GLOBAL_RTT))
        err_add(err, ops->name, "preset %s: marks by BDPs need the largest base RTT of all pairs",
                preset->name);
    if ((unsigned)n->cnp > CNP_PER_ACK || (unsigned)n->scope > CNP_SCOPE_PORT || n->interval_ps < 0)
        err_add(err, ops->name, "preset %s: its notification is not sound", preset->name);
}

static bool preset_named_before(const struct cc_ops *ops, const struct cc_preset *preset)
{
    for (const struct cc_preset *p = ops->presets; p < preset; p++)
        if (strcmp(p->name, preset->name) == 0)
            return true;
    return false;
}

static void preset_check(const struct cc_ops *ops, const struct cc_preset *preset, void *params,
                         struct err *err)
{
    char path[PATH_BYTES];
    size_t errors = err->n_errors;
    if (!word_valid(preset->name) || preset->doc == NULL ||
        (preset->values == NULL && preset->n_values > 0)) {
        err_add(err, ops->name, "a preset needs a name, a line of documentation and its values");
        return;
    }
    if (preset_named_before(ops, preset))
        err_add(err, ops->name, "has two presets %s", preset->name);
    profile_check(ops, preset, err);
    params_default(ops->params, ops->n_params, params);
    for (size_t i = 0; i < preset->n_values; i++) {
        struct param param = param_find(ops->params, ops->n_params, preset->values[i].param);
        path_of(ops, preset->values[i].param, path);
        if (param.name == NULL)
            err_add(err, path, "preset %s sets an unknown parameter", preset->name);
        else
            param_set(&param, params, preset->values[i].value, path, err);
    }
    const char *why = err->n_errors == errors ? cc_check_params(ops, params) : NULL;
    if (why != NULL)
        err_add(err, ops->name, "preset %s: %s", preset->name, why);
}

// ---- the complete policy ----

// Check all members except the rows and presets, whose checks rely on them.
static void shape_check(const struct cc_ops *ops, struct err *err)
{
    if (ops->doc == NULL || ops->paper == NULL)
        err_add(err, ops->name,
                "needs `doc`, a line of documentation, and `paper`, its source or author");
    if (ops->init == NULL)
        err_add(err, ops->name, "has no init()");
    if ((ops->observe == NULL) != (ops->observed == NULL))
        err_add(err, ops->name, "observe() and the names of what it gives go together");
    if ((ops->credits == NULL) == ((ops->needs & CC_NEEDS_CREDITS) != 0))
        err_add(err, ops->name, "credits() and the need for credits go together");
    if (ops->n_presets == 0 || ops->presets == NULL)
        err_add(err, ops->name,
                "has no preset: `presets` needs one at least, as {.name = \"default\", .doc = ..}");
    if (ops->n_params > 0 && ops->params == NULL)
        err_add(err, ops->name, "has no table of its %zu parameters", ops->n_params);
    if (ops->extras != NULL)
        extras_check(ops, err);
    size_t n_observed = 0;
    for (; ops->observed != NULL && ops->observed[n_observed] != NULL; n_observed++)
        if (!word_valid(ops->observed[n_observed]))
            err_add(err, ops->name,
                    "names of observed values must be words like those of policies");
    if (n_observed > CC_OBSERVED_MAX)
        err_add(err, ops->name, "observes more than %d values", CC_OBSERVED_MAX);
    if (ops->priv_bytes > CC_PRIV_BYTES_MAX)
        err_add(err, ops->name, "%zu bytes of state a flow are more than %d", ops->priv_bytes,
                CC_PRIV_BYTES_MAX);
    if (ops->params_bytes > CC_PARAMS_BYTES_MAX)
        err_add(err, ops->name, "%zu bytes of parameters are more than %d", ops->params_bytes,
                CC_PARAMS_BYTES_MAX);
}

int cc_ops_check(const struct cc_ops *ops, struct err *err)
{
    size_t errors = err->n_errors;
    alignas(max_align_t) unsigned char params[CC_PARAMS_BYTES_MAX] = {0};
    if (contract_check(&ops->contract, err) != 0)
        return -1;
    if (!word_valid(ops->name))
        return err_add(err, "policy", "its name must be lower-case letters, digits, underscores");
    shape_check(ops, err);
    if (err->n_errors > errors)
        return -1;
    if (rows_check(ops, err) != 0)
        return -1;
    struct param_walk walk = params_walk(ops->params, ops->n_params);
    for (const struct param *param; (param = params_next(&walk)) != NULL;)
        param_check(ops, param, params, err);
    if (err->n_errors > errors)
        return -1;
    for (size_t i = 0; i < ops->n_presets; i++)
        preset_check(ops, &ops->presets[i], params, err);
    return err->n_errors == errors ? 0 : -1;
}
