// SPDX-License-Identifier: MIT
// Every value of every built-in preset names what it rests on: parameters and their defaults, the
// values that a preset sets, its marking and its notification.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cc/catalogue.h"
#include "cc/cc.h"

static bool stated(enum evidence evidence, const char *source)
{
    return evidence != EVIDENCE_UNSTATED && source != NULL && source[0] != '\0';
}

static void test_defaults(void **state)
{
    (void)state;
    struct cc_catalogue all = cc_catalogue_builtin();
    for (size_t i = 0; i < all.n; i++) {
        struct param_walk walk = params_walk(all.policies[i]->params, all.policies[i]->n_params);
        for (const struct param *p; (p = params_next(&walk)) != NULL;)
            if (!stated(p->evidence, p->source))
                fail_msg("%s.%s: no evidence", all.policies[i]->name, p->name);
    }
}

static bool sets(const struct cc_ops *ops, const struct cc_preset *preset, const char *field)
{
    const struct cc_notification *n = &preset->notification;
    if (strcmp(field, "marking") == 0)
        return preset->profile.ecn;
    if (strcmp(field, "notification") == 0)
        return (ops->needs & CC_NEEDS_CNP) || n->cnp != CNP_AUTO || n->interval_ps != 0;
    for (size_t v = 0; v < preset->n_values; v++)
        if (strcmp(preset->values[v].param, field) == 0)
            return true;
    return false;
}

// The field is set if and only if the preset says what it rests on.
static void check_field(const struct cc_ops *ops, const struct cc_preset *preset, const char *field)
{
    const struct cc_basis *basis = cc_basis_of(preset, field);
    if (sets(ops, preset, field) != (basis != NULL))
        fail_msg("%s:%s: %s is set without evidence, or the reverse", ops->name, preset->name,
                 field);
    if (basis != NULL && !stated(basis->evidence, basis->source))
        fail_msg("%s:%s: %s: no class or source", ops->name, preset->name, field);
}

static size_t words_of(const char *text)
{
    size_t n = 1;
    for (; *text != '\0'; text++)
        n += *text == ' ';
    return n;
}

static void test_presets(void **state)
{
    (void)state;
    struct cc_catalogue all = cc_catalogue_builtin();
    for (size_t i = 0; i < all.n; i++) {
        const struct cc_ops *ops = all.policies[i];
        for (size_t p = 0; p < ops->n_presets; p++) {
            const struct cc_preset *preset = &ops->presets[p];
            size_t named = 0, expected = preset->n_values + sets(ops, preset, "marking") +
                                         sets(ops, preset, "notification");
            check_field(ops, preset, "marking");
            check_field(ops, preset, "notification");
            for (size_t v = 0; v < preset->n_values; v++)
                check_field(ops, preset, preset->values[v].param);
            for (size_t b = 0; b < preset->n_bases; b++)
                named += words_of(preset->bases[b].fields);
            if (named !=
                expected) // a word that is no field of the preset, or one that is named twice
                fail_msg("%s:%s: evidence of %zu fields, where %zu are set", ops->name,
                         preset->name, named, expected);
        }
    }
}

static void test_search(void **state)
{
    (void)state;
    static const struct cc_basis bases[] = {{"ab a", EVIDENCE_MEASURED, "x"},
                                            {"b", EVIDENCE_ESTIMATED, "y"}};
    const struct cc_preset preset = {.bases = bases, .n_bases = 2};
    assert_ptr_equal(cc_basis_of(&preset, "a"), &bases[0]);
    assert_ptr_equal(cc_basis_of(&preset, "ab"), &bases[0]);
    assert_ptr_equal(cc_basis_of(&preset, "b"), &bases[1]);
    assert_null(cc_basis_of(&preset, "abc"));
    assert_string_equal(evidence_name(EVIDENCE_MEASURED), "measured");
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults),
                                       cmocka_unit_test(test_presets),
                                       cmocka_unit_test(test_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
