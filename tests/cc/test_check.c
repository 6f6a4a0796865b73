// SPDX-License-Identifier: MIT
// A catalogue accepts only policies of this contract with sound parameters and presets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cc/catalogue.h"

struct toy_params {
    uint64_t low, high;
};

static const struct param good_rows[] = {
    PARAM_ROW("low", COUNT, offsetof(struct toy_params, low), .def = "1", .max = "10",
              .help = "the least"),
    PARAM_ROW("high", COUNT, offsetof(struct toy_params, high), .def = "2", .max = "10",
              .help = "the most"),
};

static const struct cc_preset_value wide_values[] = {{"low", "0"}, {"high", "10"}};
static const struct cc_preset good_presets[] = {
    {.name = "default", .doc = "the defaults"},
    {.name = "wide", .doc = "all of the range", .values = wide_values, .n_values = 2},
};

static void toy_init(struct cc *cc, ps_t now)
{
    (void)cc;
    (void)now;
}

static const char *toy_check(const void *params)
{
    const struct toy_params *p = params;
    return p->low <= p->high ? NULL : "low must not be above high";
}

static const struct cc_ops good = {
    .contract = CC_CONTRACT,
    .name = "toy",
    .doc = "a toy",
    .paper = "none",
    .params = good_rows,
    .n_params = 2,
    .params_bytes = sizeof(struct toy_params),
    .priv_bytes = CC_PRIV_BYTES_MAX,
    .presets = good_presets,
    .n_presets = 2,
    .init = toy_init,
    .check = toy_check,
};

static void assert_refused(const struct cc_ops *ops, const char *says)
{
    struct err err = {0};
    assert_int_equal(cc_ops_check(ops, &err), -1);
    assert_true(err.n_errors > 0);
    if (strstr(err.items[0].text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.items[0].text, says);
    err_free(&err);
}

static void test_good_policies_are_taken(void **state)
{
    (void)state;
    struct err err = {0};
    assert_int_equal(cc_ops_check(&good, &err), 0);
    struct cc_catalogue c = cc_catalogue_builtin();
    for (size_t i = 0; i < c.n; i++)
        if (cc_ops_check(c.policies[i], &err) != 0)
            fail_msg("%s", err.items[0].text);
    assert_int_equal(cc_catalogue_add(&c, &good, &err), 0);
    assert_int_equal(err.n_errors, 0);
}

// Each size is checked separately; if the version differs, no other field is read.
static void test_other_contracts_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        const char *says;
    } sizes[] = {
        {offsetof(struct cc_contract, ops_bytes), "struct cc_ops of"},
        {offsetof(struct cc_contract, cc_bytes), "struct cc of"},
        {offsetof(struct cc_contract, env_bytes), "struct cc_env of"},
        {offsetof(struct cc_contract, ack_bytes), "struct cc_ack of"},
        {offsetof(struct cc_contract, signal_bytes), "struct cc_signal of"},
        {offsetof(struct cc_contract, post_bytes), "struct cc_post of"},
        {offsetof(struct cc_contract, credits_bytes), "struct cc_credits of"},
        {offsetof(struct cc_contract, preset_bytes), "struct cc_preset of"},
        {offsetof(struct cc_contract, param_bytes), "struct param of"},
        {offsetof(struct cc_contract, hop_bytes), "struct int_hop of"},
        {offsetof(struct cc_contract, helpers_bytes), "struct cc_helpers of"},
    };
    assert_int_equal((sizeof sizes / sizeof *sizes + 1) * sizeof(uint32_t),
                     sizeof(struct cc_contract));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct cc_ops ops = good;
        uint32_t *size = (uint32_t *)(void *)((char *)&ops.contract + sizes[i].offset);
        *size += 8;
        assert_refused(&ops, sizes[i].says);
    }
    // a policy whose struct ends after the contract
    struct cc_contract alone = {.version = CC_VERSION + 1};
    struct cc_ops other = {.contract = alone};
    assert_refused(&other, "version 11 of the contract, here it is version 10");
    assert_int_equal(offsetof(struct cc_ops, contract.version), 0);
}

static void test_other_extras_are_refused(void **state)
{
    (void)state;
    const struct cc_extras sound = {CC_EXTRAS};
    struct cc_extras extras = sound;
    struct cc_ops ops = good;
    struct err err = {0};
    ops.extras = &extras;
    assert_int_equal(cc_ops_check(&ops, &err), 0);
    extras.bytes -= 8;
    assert_refused(&ops, "struct cc_extras of");
    extras = sound;
    extras.growth_bytes += 8;
    assert_refused(&ops, "struct cc_growth of");
}

static void test_bad_shapes_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a", NULL};
    struct cc_ops ops = good;
    ops.name = NULL;
    assert_refused(&ops, "its name");
    ops.name = "To y";
    assert_refused(&ops, "its name");
    ops = good;
    ops.doc = NULL;
    assert_refused(&ops, "documentation");
    ops = good;
    ops.init = NULL;
    assert_refused(&ops, "init()");
    ops = good;
    ops.observed = names;
    assert_refused(&ops, "observe()");
    ops = good;
    ops.n_presets = 0;
    assert_refused(&ops, "no preset");
    ops = good;
    ops.priv_bytes++;
    assert_refused(&ops, "4097 bytes of state a flow are more than 4096");
    ops = good;
    ops.params_bytes = CC_PARAMS_BYTES_MAX + 1;
    assert_refused(&ops, "513 bytes of parameters");
    struct err err = {0};
    struct cc_catalogue c = cc_catalogue_builtin();
    size_t n = c.n;
    assert_int_equal(cc_catalogue_add(&c, &ops, &err), -1);
    assert_int_equal(c.n, n);
    err_free(&err);
}

static void test_bad_parameters_are_refused(void **state)
{
    (void)state;
    struct param rows[2];
    struct cc_ops ops = good;
    ops.params = rows;
    memcpy(rows, good_rows, sizeof rows);
    assert_int_equal(cc_ops_check(&ops, &(struct err){0}), 0);
    rows[1].name = "low";
    assert_refused(&ops, "toy.low: is already the name");
    rows[1].name = "preset";
    assert_refused(&ops, "toy.preset: is already the name");
    memcpy(rows, good_rows, sizeof rows);
    rows[1].offset++;
    assert_refused(&ops, "toy.high: lies outside of the parameters' 16 bytes");
    memcpy(rows, good_rows, sizeof rows);
    rows[0].def = NULL;
    assert_refused(&ops, "toy.low: needs a default");
    rows[0].def = "11";
    assert_refused(&ops, "toy.low: 11 is above the maximum 10");
    memcpy(rows, good_rows, sizeof rows);
    rows[0].help = NULL;
    assert_refused(&ops, "toy.low: needs a help text");
}

static void test_bad_presets_are_refused(void **state)
{
    (void)state;
    struct cc_preset presets[2];
    struct cc_preset_value value = {"lo", "1"};
    struct cc_ops ops = good;
    ops.presets = presets;
    memcpy(presets, good_presets, sizeof presets);
    presets[1].values = &value;
    presets[1].n_values = 1;
    assert_refused(&ops, "toy.lo: preset wide sets an unknown parameter");
    value = (struct cc_preset_value){"low", "many"};
    assert_refused(&ops, "toy.low: \"many\" is not a count");
    value = (struct cc_preset_value){"low", "3"};
    assert_refused(&ops, "toy: preset wide: low must not be above high");
}

// The size of a flow is what its policy requires, rounded up to the alignment.
static void test_bytes_of_a_flow(void **state)
{
    (void)state;
    struct cc_ops ops = good;
    const size_t head = offsetof(struct cc, priv);
    assert_int_equal(head % alignof(max_align_t), 0);
    for (size_t n = 0; n <= CC_PRIV_BYTES_MAX; n++) {
        ops.priv_bytes = n;
        size_t bytes = cc_bytes(&ops);
        assert_true(bytes >= head + n && bytes < head + n + alignof(max_align_t));
        assert_int_equal(bytes % alignof(max_align_t), 0);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_policies_are_taken),
        cmocka_unit_test(test_other_contracts_are_refused),
        cmocka_unit_test(test_other_extras_are_refused),
        cmocka_unit_test(test_bad_shapes_are_refused),
        cmocka_unit_test(test_bad_parameters_are_refused),
        cmocka_unit_test(test_bad_presets_are_refused),
        cmocka_unit_test(test_bytes_of_a_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
