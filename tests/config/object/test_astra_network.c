// SPDX-License-Identifier: MIT
// Network files of ASTRA-sim: the resulting dimensions, and errors. tests/theory/check_astra.py
// reads the public examples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/config/load.h"

#define GB (UINT64_C(8) << 30) // bit/s of a "GB/s"

static struct scenario *load_network(const char *network, struct err *err)
{
    file_write("net.json", network, strlen(network));
    struct scenario *scenario =
        load("{\"name\":\"t\",\"network\":\"analytical\",\"topology\":{\"astra\":\"net.json\"},"
             "\"workload\":{\"kind\":\"permutation\",\"bytes\":1}}",
             err);
    file_remove("net.json");
    return scenario;
}

static void assert_dim(const struct dim_spec *dim, const char *kind, uint32_t size,
                       uint64_t parallel, uint64_t rate_bps, ps_t delay_ps)
{
    char buf[PARAM_TEXT_MAX], want[UNIT_TEXT];
    snprintf(want, sizeof want, "%llu", (unsigned long long)parallel);
    assert_string_equal(dim->kind->name, kind);
    assert_int_equal(dim->size, size);
    assert_string_equal(param_text(&dim->kind->params[0], dim->params, buf), want);
    assert_int_equal(dim->links[0].rate_bps, rate_bps);
    assert_int_equal(dim->links[0].delay_ps, delay_ps);
}

static void test_dimensions(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *s = load_network(
        "{\"dimensions-count\":8,\"topologies-per-dim\":[\"Ring\",\"Ring\",\"Ring\",\"Ring\","
        "\"Switch\",\"FullyConnected\",\"FullyConnected\",\"FullyConnected\"],"
        "\"units-count\":[4,2,3,1,2,3,2,4],\"links-count\":[4,3,3,1,6,4,2,1],"
        "\"link-latency\":[500,0.5,1,1,1,1,1,1],\"link-bandwidth\":[50,6.25,2,1,1,1,1,3],"
        "\"topology-name\":\"Hierarchical\",\"hbm-latency\":1,\"hbm-scale\":0}",
        &err);
    assert_non_null(s);
    assert_int_equal(err.n_items, 1); // one line for all keys without effect
    assert_said(&err, "net.json",
                "topology.astra: net.json: these keys have no effect: topology-name, "
                "hbm-latency, hbm-scale");
    const struct dim_spec *dims = scenario_spec(s)->dims;
    assert_int_equal(scenario_spec(s)->n_dims, 8);
    assert_dim(&dims[0], "ring", 4, 2, 50 * GB, 500 * PS_PER_NS);
    assert_dim(&dims[1], "ring", 2, 3, 6 * GB + GB / 4, 500); // all links to the only neighbour
    assert_dim(&dims[2], "ring", 3, 1, 3 * GB, PS_PER_NS);    // 1.5 links each way
    assert_dim(&dims[3], "ring", 1, 1, GB, PS_PER_NS);
    assert_dim(&dims[4], "switch", 2, 6, GB, PS_PER_NS);
    assert_dim(&dims[5], "fully_connected", 3, 2, GB, PS_PER_NS);
    assert_dim(&dims[6], "fully_connected", 2, 2, GB, PS_PER_NS);
    assert_dim(&dims[7], "fully_connected", 4, 1, GB, PS_PER_NS); // a third of a link to each
    assert_non_null(strstr(scenario_resolved(s), "\"dims\""));
    assert_null(strstr(scenario_resolved(s), "astra"));
    struct scenario *again = load(scenario_resolved(s), &err);
    assert_non_null(again);
    assert_string_equal(scenario_resolved(again), scenario_resolved(s));
    scenario_free(again);
    scenario_free(s);
    err_free(&err);
}

// A message passes two network cards, and in a switch a router.
static void test_cards_and_routers(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *s = load_network(
        "{\"dimensions-count\":3,\"topologies-per-dim\":[\"Ring\",\"Switch\","
        "\"FullyConnected\"],\"units-count\":[4,2,3],\"links-count\":[2,1,2],"
        "\"link-latency\":[500,100,50],\"link-bandwidth\":[1,1,1],\"nic-latency\":[7,10,3],"
        "\"router-latency\":[9,5,9]}",
        &err);
    assert_non_null(s);
    assert_int_equal(err.n_items, 0);
    const struct dim_spec *dims = scenario_spec(s)->dims;
    assert_int_equal(dims[0].links[0].delay_ps, 514 * PS_PER_NS);
    assert_int_equal(dims[1].links[0].delay_ps,
                     112 * PS_PER_NS + 500); // a half of 2 x 100 + 2 x 10 + 5
    assert_int_equal(dims[2].links[0].delay_ps, 56 * PS_PER_NS);
    scenario_free(s);
    err_free(&err);
}

#define ONE(kind, units, links, latency, bandwidth)                                                \
    "{\"dimensions-count\":1,\"topologies-per-dim\":[" kind "],\"units-count\":[" units "],"       \
    "\"links-count\":[" links "],\"link-latency\":[" latency "],\"link-bandwidth\":[" bandwidth    \
    "]}"

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *network, *want;
    } cases[] = {
        {"", "line 1, column 0: not JSON"},
        {"[]", "topology.astra: net.json: must be an object, not a list"},
        {"{\"dimensions-count\":1,", "not JSON"},
        {"{}", "topology.astra: net.json: dimensions-count: is required"},
        {"{\"dimensions-count\":0}", "dimensions-count: 0 is not from 1 to 8"},
        {"{\"dimensions-count\":9}", "dimensions-count: 9 is not from 1 to 8"},
        {"{\"dimensions-count\":\"2\"}", "dimensions-count: must be a whole number"},
        {"{\"dimensions-count\":1}", "topologies-per-dim: is required: a list"},
        {"{\"dimensions-count\":1,\"units-count\":4}", "units-count: must be a list"},
        {"{\"dimensions-count\":1,\"units-count\":[4,4]}",
         "units-count: has 2 values for 1 dimensions"},
        {"{\"dimensions-count\":1,\"unit-count\":[4]}",
         "net.json: unit-count: unknown key; did you mean \"units-count\"?"},
        {ONE("\"Torus\"", "4", "2", "1", "1"), "topologies-per-dim[0]: unknown topology \"Torus\""},
        {ONE("3", "4", "2", "1", "1"), "topologies-per-dim[0]: must be the name of a topology"},
        {ONE("\"Ring\"", "0", "2", "1", "1"), "units-count[0]: 0 is not from 1"},
        {ONE("\"Ring\"", "-4", "2", "1", "1"), "units-count[0]: -4 is not from 1"},
        {ONE("\"Ring\"", "4.5", "2", "1", "1"), "units-count[0]: must be a whole number"},
        {ONE("\"Ring\"", "4", "0", "1", "1"), "links-count[0]: 0 is not from 1"},
        {ONE("\"Ring\"", "4", "200", "1", "1"), "links-count[0]: 100 is above the maximum 64"},
        {ONE("\"Ring\"", "4", "2", "-1", "1"), "link-latency[0]: -1 is not from 0"},
        {ONE("\"Ring\"", "4", "2", "\"1\"", "1"), "link-latency[0]: must be a number"},
        {ONE("\"Ring\"", "4", "2", "1", "0"), "link-bandwidth[0]: 0 is not from"},
        {ONE("\"Ring\"", "4", "2", "1", "12000"), "link-bandwidth[0]: "}, // over 100 Tb/s
        {ONE("\"Ring\"", "2000000000", "2", "1", "1"), "units-count[0]: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        assert_null(load_network(cases[i].network, &err));
        assert_said(&err, cases[i].network, cases[i].want);
        err_free(&err);
    }
}

static void test_no_file(void **state)
{
    (void)state;
    static const struct {
        const char *topology, *want;
    } cases[] = {
        {"{\"astra\":\"none.json\"}", "topology.astra: "},
        {"{\"astra\":3}", "topology.astra: must be the name of a file, not a number"},
        {"{\"astra\":\"x\",\"dims\":[]}", "topology.astra: cannot be combined with `dims`"},
        {"{\"astra\":\"x\",\"dim\":[]}", "topology.dim: unknown key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char text[256];
        snprintf(text, sizeof text, "{\"name\":\"t\",\"topology\":%s,\"workload\":%s}",
                 cases[i].topology, JOB);
        assert_null(load(text, &err));
        assert_said(&err, cases[i].topology, cases[i].want);
        err_free(&err);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dimensions), cmocka_unit_test(test_cards_and_routers),
        cmocka_unit_test(test_mistakes), cmocka_unit_test(test_no_file)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
