// SPDX-License-Identifier: MIT
// Networks of InfraGraph: the graph that they make, in YAML and JSON, and the errors of wrong ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/memory.h"
#include "net/topology/graph_kind.h"
#include "tests/config/load.h"

#define SCENARIO                                                                                   \
    "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"graph\",\"size\":4,\"file\":\"g.yaml\","  \
    "\"link\":{\"rate\":\"100Gbps\",\"delay\":\"7us\"}}]},\"workload\":" JOB "}"

static struct scenario *load_bytes(const char *file, size_t n, struct err *err)
{
    file_write("g.yaml", file, n);
    struct scenario *s = load(SCENARIO, err);
    file_remove("g.yaml");
    return s;
}

// Two servers of two xpus on an NVSwitch, each xpu with a NIC of its own; two leaves, joined twice.
static const char good[] =
    "name: two\n"
    "devices:\n"
    "- name: server\n"
    "  components:\n"
    "  - {name: cpu, count: 1, choice: cpu, cpu: {}}\n"
    "  - {name: xpu, count: 2, choice: xpu}\n"
    "  - {name: nvsw, count: 1, choice: switch}\n"
    "  - {name: nic, count: 2, choice: nic}\n"
    "  - {name: mgmt, count: 1, choice: nic}\n"
    "  links:\n"
    "  - name: pcie\n"
    "    physical: {bandwidth: {gigabytes_per_second: 48}, latency: {choice: ns, ns: 250}}\n"
    "  - {name: nvlink, physical: {bandwidth: {gigabits_per_second: 3600}}}\n"
    "  edges:\n"
    "  - {ep1: {component: mgmt}, ep2: {component: 'cpu[0]'}, scheme: one2one, link: pcie}\n"
    "  - {ep1: {component: xpu}, ep2: {component: nvsw}, scheme: many2many, link: nvlink}\n"
    "  - {ep1: {component: 'xpu[0:2]'}, ep2: {component: 'nic[:]'}, scheme: one2one, link: pcie}\n"
    "- name: box\n"
    "  components:\n"
    "  - {name: asic, count: 1, choice: cpu}\n"
    "  - {name: port, count: 8, choice: port}\n"
    "  links: [{name: ic}]\n"
    "  edges:\n"
    "  - {ep1: {component: asic}, ep2: {component: port}, scheme: many2many, link: ic}\n"
    "links:\n"
    "- name: eth\n"
    "  physical: {bandwidth: {gigabits_per_second: 200}, latency: {us: 1}}\n"
    "- {name: trunk}\n"
    "instances:\n"
    "- {name: host, device: server, count: 2}\n"
    "- {name: leaf, device: box, count: 2}\n"
    "edges:\n"
    "- {ep1: {instance: 'host[0:2]', component: 'nic[0]'}, ep2: {instance: 'leaf[0]', component: "
    "port}, scheme: one2one, link: eth}\n"
    "- {ep1: {instance: host, component: 'nic[1]'}, ep2: {instance: 'leaf[1]', component: "
    "'port[0:4:2]'}, scheme: one2one, link: eth}\n"
    "- {ep1: {instance: 'leaf[0]', component: 'port[6:8]'}, ep2: {instance: 'leaf[1]', component: "
    "'port[6:8]'}, scheme: one2one, link: trunk}\n";

static void link_is(const struct graph_link *link, const char *a, const char *b, uint64_t gbps,
                    ps_t delay_ps)
{
    char text[2][32];
    for (int e = 0; e < 2; e++)
        snprintf(text[e], sizeof text[e], "%s%u", link->ends[e].is_switch ? "sw" : "rank",
                 link->ends[e].index);
    assert_string_equal(text[0], a);
    assert_string_equal(text[1], b);
    assert_int_equal(link->link.rate_bps, gbps * UINT64_C(1000000000));
    assert_int_equal(link->link.delay_ps, delay_ps);
}

// The NIC is a part of the link to the leaf; the CPU carries nothing; two trunks stay two.
static void test_good(void **state)
{
    struct err err = {0};
    (void)state;
    struct scenario *s = load_bytes(good, sizeof good - 1, &err);
    if (s == NULL)
        fail_msg("%s", err.items[0].text);
    const struct graph_params *p = (const void *)scenario_spec(s)->dims[0].params;
    assert_int_equal(p->hosts, 4);
    assert_int_equal(p->switches, 4); // an NVSwitch of each server, and two leaves
    assert_int_equal(p->n_links, 10);
    ps_t way = PS_PER_US + 250 * PS_PER_NS;
    link_is(&p->links[0], "rank0", "sw0", 3600, 7 * PS_PER_US);
    link_is(&p->links[1], "rank0", "sw2", 200, way);
    link_is(&p->links[2], "rank1", "sw0", 3600, 7 * PS_PER_US);
    link_is(&p->links[3], "rank1", "sw3", 200, way);
    link_is(&p->links[4], "rank2", "sw1", 3600, 7 * PS_PER_US);
    link_is(&p->links[5], "rank2", "sw2", 200, way);
    link_is(&p->links[7], "rank3", "sw3", 200, way);
    link_is(&p->links[8], "sw2", "sw3", 100, 7 * PS_PER_US);
    link_is(&p->links[9], "sw2", "sw3", 100, 7 * PS_PER_US);
    scenario_free(s);
    err_free(&err);
}

// The text with `was` replaced by `is`, to be freed.
static char *changed(const char *was, const char *is)
{
    const char *at = strstr(good, was);
    assert_non_null(at);
    size_t n = sizeof good + strlen(is);
    char *new = memory_bytes(n);
    snprintf(new, n, "%.*s%s%s", (int)(at - good), good, is, at + strlen(was));
    return new;
}

static void test_errors(void **state)
{
    static const struct {
        const char *was, *is, *said;
    } cases[] = {
        {"choice: xpu", "choice: gpu", "devices[0].components[1].choice: \"gpu\" is not one of"},
        {"choice: xpu", "choice: nic", "has no xpu: ranks are the components of choice xpu"},
        {"choice: switch", "choice: device", "is a device inside a device, which is not read"},
        {"count: 2, choice: xpu", "count: -2, choice: xpu", "devices[0].components[1].count"},
        {"count: 2, choice: xpu", "count: .nan, choice: xpu", "devices[0].components[1].count"},
        {"count: 2, choice: xpu", "count: 9999999, choice: xpu", "components[1].count"},
        {"device: server, count: 2", "device: none, count: 2", "is of device \"none\""},
        {"device: server, count: 2", "device: server, count: 1000000",
         "instances[0]: the file has more than 4000000 components"},
        {"'host[0:2]'", "'host[0:3]'", "edges[0].ep1: \"host[0:3]\" is not a slice of 2 instances"},
        {"'host[0:2]'", "'host[1:0]'", "edges[0].ep1: \"host[1:0]\" is not a slice"},
        {"'host[0:2]'", "'host[0:2'", "edges[0].ep1: \"host[0:2\" is not a slice"},
        {"'host[0:2]'", "'host[-1]'", "edges[0].ep1: \"host[-1]\" is not a slice"},
        {"'host[0:2]'", "'rack[0]'", "edges[0].ep1: \"rack[0]\" is no instance"},
        {"component: 'nic[0]'", "component: 'dgx.nic[0]'", "\"dgx.nic[0]\" is no component"},
        {"scheme: one2one, link: eth", "scheme: ring, link: eth", "scheme \"ring\" is not one2one"},
        {"link: eth", "link: wire", "edges[0]: has the link \"wire\", which does not exist here"},
        {"gigabits_per_second: 200", "gigabits_per_second: -200", "must be a number from 0 to 1e9"},
        {"gigabits_per_second: 200", "gigabits_per_second: .inf", "must be a number from 0 to 1e9"},
        {"gigabits_per_second: 200", "gigabits_per_second: 0", "is not from 0.001 to 100000"},
        {"gigabits_per_second: 200", "terabits: 2", "terabits"},
        {"latency: {us: 1}", "latency: {ms: 5000}", "is longer than 1 s"},
        {"edges:\n- {ep1: {inst", "connections: []\nedges:\n- {ep1: {inst", "connections"},
        {"- {name: trunk}", "- {name: trunk", "line 29"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char *text = changed(cases[i].was, cases[i].is);
        struct scenario *s = load_bytes(text, strlen(text), &err);
        assert_null(s);
        assert_int_equal(err.n_errors, 1);
        assert_said(&err, cases[i].is, cases[i].said);
        free(text);
        err_free(&err);
    }
}

// Transfers a second are no rate, and annotations no ranks: both are said. JSON is read, too.
static void test_said(void **state)
{
    static const char json[] =
        "{\"infrastructure\":{\"devices\":[{\"name\":\"s\",\"components\":[{\"name\":\"x\","
        "\"count\":4,\"choice\":\"xpu\"},{\"name\":\"w\",\"count\":1,\"choice\":\"switch\"}],"
        "\"links\":[{\"name\":\"l\",\"physical\":{\"bandwidth\":{\"gigatransfers_per_second\":32}}}"
        "],\"edges\":[{\"ep1\":{\"component\":\"x\"},\"ep2\":{\"component\":\"w\"},\"scheme\":"
        "\"many2many\",\"link\":\"l\"}]}],\"instances\":[{\"name\":\"i\",\"device\":\"s\","
        "\"count\":1}]},\"annotations\":{}}";
    struct err err = {0};
    (void)state;
    struct scenario *s = load_bytes(json, sizeof json - 1, &err);
    if (s == NULL)
        fail_msg("%s", err.items[0].text);
    const struct graph_params *p = (const void *)scenario_spec(s)->dims[0].params;
    assert_int_equal(p->n_links, 4);
    assert_int_equal(p->links[0].link.rate_bps, UINT64_C(100000000000));
    assert_said(&err, "transfers", "rates in transfers a second are not read");
    assert_said(&err, "annotations", "annotations are not read");
    scenario_free(s);
    err_free(&err);
}

// A file of more than 16 MiB is not read.
static void test_large(void **state)
{
    enum { BYTES = (16 << 20) + 1 };
    char *text = memory_bytes(BYTES);
    struct err err = {0};
    (void)state;
    memset(text, '\n', BYTES);
    memcpy(text, good, sizeof good - 1);
    assert_null(load_bytes(text, BYTES, &err));
    assert_said(&err, "large", "g.yaml is larger than the 16 MiB");
    free(text);
    err_free(&err);
}

// A network of Garnet is named.
static void test_garnet(void **state)
{
    static const char text[] =
        "num-npus: 8\nnum-packages: 4\ntopology: Torus3D\nflit-width: 2048\n";
    struct err err = {0};
    (void)state;
    assert_null(load_bytes(text, sizeof text - 1, &err));
    assert_int_equal(err.n_errors, 1);
    assert_said(&err, "Garnet", "g.yaml is a network of Garnet");
    assert_said(&err, "its dimensions", "\"units-count\": [2, 2, 2]");
    err_free(&err);
    static const char switched[] =
        "num-npus: 16\nnum-packages: 4\ntopology: NV_Switch\nlocal-rings: 2\n";
    assert_null(load_bytes(switched, sizeof switched - 1, &err));
    assert_said(&err, "its dimensions", "[\"Ring\", \"Switch\"], \"units-count\": [4, 4]");
    err_free(&err);
}

// What is cut off or has zero bytes is refused; CRLF changes nothing.
static void test_hostile(void **state)
{
    struct err err = {0};
    (void)state;
    for (size_t n = 0; n < sizeof good / 2; n += 13) {
        assert_null(load_bytes(good, n, &err));
        assert_true(err.n_errors > 0);
        err_free(&err);
        err = (struct err){0};
    }
    char *text = changed("name: two", "name: two");
    text[200] = '\0';
    assert_null(load_bytes(text, sizeof good - 1, &err));
    assert_true(err.n_errors > 0);
    err_free(&err);
    err = (struct err){0};
    free(text);
    char *crlf = memory_bytes(2 * sizeof good), *to = crlf;
    for (const char *at = good; *at != '\0'; at++) {
        if (*at == '\n')
            *to++ = '\r';
        *to++ = *at;
    }
    struct scenario *s = load_bytes(crlf, (size_t)(to - crlf), &err);
    assert_non_null(s);
    scenario_free(s);
    err_free(&err);
    free(crlf);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_said),  cmocka_unit_test(test_garnet),
        cmocka_unit_test(test_large), cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
