// SPDX-License-Identifier: MIT
// Reads policies with settings and finds out which keys of the scenario they change.
#include "config/policy_choice.h"

#include <stdlib.h>
#include <string.h>

#include "config/object/scenario_parts.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/text/read.h"
#include "transport/transport.h"

static const char option[] = "--cc";

/* ---- the sets of a choice ---- */

static void add_set(struct policy_choice *choice, char *path, char *value)
{
    choice->sets = memory_resize(choice->sets, choice->n_sets + 1, sizeof *choice->sets);
    choice->sets[choice->n_sets++] = (struct collwire_setting){path, value};
}

// The transport among those of the scenario that runs the policy.
static uint32_t stack_of(const struct scenario *base, const struct cc_ops *ops)
{
    uint32_t t = 0;
    while (t + 1 < base->base.n_stacks && !transport_runs(base->base.stacks[t].transport.ops, ops))
        t++;
    return t;
}

// The path of an object of the scenario that may be a list with an item for each transport.
static char *path_of(const char *object, bool listed, uint32_t t, const char *key)
{
    return listed ? text_format("%s[%u].%s", object, (unsigned)t, key)
                  : text_format("%s.%s", object, key);
}

// Add the setting of a key without a dot: of the policy, or of its transport.
static void add_key(struct policy_choice *choice, const struct scenario *base,
                    const struct cc_ops *ops, const char *key, const char *value, struct err *err)
{
    uint32_t t = stack_of(base, ops);
    const struct transport_ops *transport = base->base.stacks[t].transport.ops;
    bool of_policy = param_find(ops->params, ops->n_params, key).name != NULL;
    bool of_transport = param_find(transport->params, transport->n_params, key).name != NULL;
    struct keys keys = {0};
    if (of_policy && of_transport) {
        err_add(err, option,
                "%s: \"%s\" is a key of cc and of transport: write cc.%s or transport.%s",
                choice->text, key, key, key);
    } else if (of_policy) {
        add_set(choice, path_of("cc", scenario_lists(base), t, key), memory_text(value));
    } else if (of_transport) {
        add_set(choice, path_of("transport", base->transports_listed, t, key), memory_text(value));
    } else {
        struct param_walk walk = params_walk(ops->params, ops->n_params);
        for (const struct param *p; (p = params_next(&walk)) != NULL;)
            keys_add(&keys, p->name);
        walk = params_walk(transport->params, transport->n_params);
        for (const struct param *p; (p = params_next(&walk)) != NULL;)
            keys_add(&keys, p->name);
        const char *near = err_near_miss(key, keys.names);
        err_add(err, option, "%s: \"%s\" is no key of %s or of transport %s%s%s%s", choice->text,
                key, ops->name, transport->name, near ? "; did you mean \"" : "", near ? near : "",
                near ? "\"?" : "");
    }
}

static void add_settings(struct policy_choice *choice, const struct scenario *base,
                         const struct cc_ops *ops, const char *settings, struct err *err)
{
    char **parts;
    size_t n = text_split(settings, ',', &parts);
    for (size_t i = 0; i < n; i++) {
        char *equals = strchr(parts[i], '=');
        if (!equals || equals == parts[i]) {
            err_add(err, option, "%s: \"%s\" is not KEY=VALUE", choice->text, parts[i]);
            continue;
        }
        *equals = '\0';
        // A key with a dot is a path of the scenario.
        if (strchr(parts[i], '.'))
            add_set(choice, memory_text(parts[i]), memory_text(equals + 1));
        else
            add_key(choice, base, ops, parts[i], equals + 1, err);
    }
    texts_free(parts, n);
}

// Add the set that replaces `cc`, unless the policy is the scenario's already.
static void add_policy(struct policy_choice *choice, const struct scenario *base,
                       const struct cc_ops *ops, struct err *err)
{
    char *value = NULL;
    if (scenario_lists(base))
        value = scenario_with_policy(base, ops, choice->preset, err);
    else if (choice->preset)
        value = text_format("{\"kind\":\"%s\",\"preset\":\"%s\"}", ops->name, choice->preset);
    else if (base->base.stacks[0].cc != ops)
        value = text_format("{\"kind\":\"%s\"}", ops->name);
    if (value)
        add_set(choice, memory_text("cc"), value);
}

/* ---- one policy ---- */

static const struct cc_ops *known_policy(const char *kind, const struct cc_catalogue *policies,
                                         struct err *err)
{
    struct keys words = {0};
    const struct cc_ops *ops = cc_catalogue_find(policies, kind);
    for (size_t i = 0; !ops && i < policies->n; i++)
        keys_add(&words, policies->policies[i]->name);
    if (ops)
        return ops;
    const char *near = err_near_miss(kind, words.names);
    err_add(err, option, "unknown policy \"%s\"%s%s%s", kind,
            near ? "; did you mean \""
                 : "; see collwire list cc, or name its plugin with --cc-plugin",
            near ? near : "", near ? "\"?" : "");
    return NULL;
}

static void choice_read(struct policy_choice *choice, const struct scenario *base,
                        const struct cc_catalogue *policies, struct err *err)
{
    const char *text = choice->text, *brace = strchr(text, '{');
    size_t length = brace ? (size_t)(brace - text) : strlen(text);
    const char *colon = memchr(text, ':', length);
    size_t name = colon ? (size_t)(colon - text) : length;
    choice->kind = text_format("%.*s", (int)name, text);
    if (colon)
        choice->preset = text_format("%.*s", (int)(length - name - 1), colon + 1);
    size_t end = strlen(text);
    if (brace && text[end - 1] != '}') {
        err_add(err, option, "%s: a closing brace is missing at the end", text);
        return;
    }
    const struct cc_ops *ops = known_policy(choice->kind, policies, err);
    if (!ops)
        return;
    add_policy(choice, base, ops, err);
    bool own = !scenario_lists(base) && !choice->preset && base->base.stacks[0].cc == ops;
    if (brace && own) // where the scenario has no `cc`, its settings need a kind beside them
        add_set(choice, memory_text("cc.kind"), memory_text(ops->name));
    char *settings = brace ? text_format("%.*s", (int)(end - length - 2), brace + 1) : NULL;
    if (settings && *settings != '\0')
        add_settings(choice, base, ops, settings, err);
    free(settings);
}

/* ---- the list ---- */

struct choices {
    struct policy_choice *list;
    size_t n;
    const struct scenario *base;
    const struct cc_catalogue *policies;
    struct err *err;
};

static void add(struct choices *c, const char *text)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].text, text) == 0) {
            err_add(c->err, option, "\"%s\" is named twice", text);
            return;
        }
    c->list = memory_resize(c->list, c->n + 1, sizeof *c->list);
    c->list[c->n] = (struct policy_choice){.text = memory_text(text)};
    choice_read(&c->list[c->n++], c->base, c->policies, c->err);
}

size_t policy_choices_read(const char *list, const struct scenario *base,
                           struct policy_choice **choices, struct err *err)
{
    const struct cc_catalogue *policies = &base->policies.catalogue;
    struct choices c = {.base = base, .policies = policies, .err = err};
    char **parts;
    size_t n = text_split(list, ',', &parts);
    for (size_t i = 0; i < n; i++) {
        if (parts[i][0] == '\0')
            err_add(err, option, "an empty policy name in \"%s\"", list);
        else if (strcmp(parts[i], "all") != 0)
            add(&c, parts[i]);
        for (size_t p = 0; strcmp(parts[i], "all") == 0 && p < policies->n; p++)
            if (scenario_runs(base, policies->policies[p]))
                add(&c, policies->policies[p]->name);
    }
    texts_free(parts, n);
    *choices = c.list;
    return c.n;
}

char *policy_choices_default(const struct scenario *base)
{
    const struct cc_ops *own = base->base.stacks[0].cc;
    if (base->base.n_stacks > 1 || strcmp(own->name, "none") == 0)
        return memory_text("all");
    return text_format("none,%s", own->name);
}

char *policy_own(const struct scenario *scenario)
{
    const struct dim_spec *base = &scenario->base;
    struct text text;
    FILE *out = text_open(&text);
    for (uint32_t s = 0; s < base->n_stacks; s++)
        fprintf(out, "%s%s", s > 0 ? "+" : "", base->stacks[s].cc->name);
    return text_close(out, &text);
}

void policy_choices_free(struct policy_choice *choices, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t s = 0; s < choices[i].n_sets; s++) {
            free((char *)(uintptr_t)choices[i].sets[s].path);
            free((char *)(uintptr_t)choices[i].sets[s].value);
        }
        free(choices[i].sets);
        free(choices[i].text);
        free(choices[i].kind);
        free(choices[i].preset);
    }
    free(choices);
}
