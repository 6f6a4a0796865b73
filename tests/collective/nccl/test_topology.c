// SPDX-License-Identifier: MIT
// Topologies of NCCL: the machines of the table come back from files that say the same, and every
// wrong file has one error.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/nccl/xml/topology.h"
#include "engine/base/memory.h"
#include "tests/collective/nccl/topology_file.h"

/* ---- a machine as a file, in the form of NCCL ---- */

// The speed of 16 lanes by their GB/s.
static const char *speed_of(double gbytes)
{
    return gbytes == 12 ? "8.0 GT/s PCIe" : gbytes == 24 ? "16.0 GT/s PCIe" : "32 GT/s";
}

static void write_pci(FILE *out, unsigned bus, const char *class, double gbytes)
{
    fprintf(out,
            "<pci busid=\"0000:%02x:00.0\" class=\"%s\" vendor=\"0x1000\" link_speed=\"%s\" "
            "link_width=\"16\">\n",
            bus, class, speed_of(gbytes));
}

#define GPU_BUS 0x40

static void write_gpu(FILE *out, const struct nccl_machine *m, uint32_t g)
{
    static const char *const sm[] = {"70", "80", "90", "100"};
    write_pci(out, GPU_BUS + g, "0x030200", m->gpu_slot[g].bw);
    fprintf(out, "<gpu dev=\"%u\" sm=\"%s\" rank=\"%u\" gdr=\"1\">\n", g, sm[m->gpu], g);
    if (m->nvlink == NCCL_NVLINK_SWITCH)
        for (unsigned i = 0; i < 2; i++)
            fprintf(out, "<nvlink target=\"0000:0%u:00.0\" count=\"%u\" tclass=\"0x068000\"/>\n",
                    i + 1, m->nvlinks / 2);
    for (uint32_t to = 0; to < m->gpus && m->nvlink == NCCL_NVLINK_PAIRS; to++)
        if (to != g)
            fprintf(out, "<nvlink target=\"0000:%02x:00.0\" count=\"%u\" tclass=\"0x030200\"/>\n",
                    GPU_BUS + to, m->nvlinks);
    if (m->c2c_bw > 0)
        fprintf(out, "<c2c bw=\"%u\" count=\"10\"/>\n", (unsigned)m->c2c_bw * 100);
    fprintf(out, "</gpu>\n</pci>\n");
}

static void write_nic(FILE *out, const struct nccl_machine *m, uint32_t n)
{
    write_pci(out, 0x80 + n, "0x020000", m->nic_slot[n].bw);
    fprintf(out,
            "<nic><net name=\"mlx5_%u\" dev=\"%u\" speed=\"%u\" port=\"1\" latency=\"0.000000\" "
            "guid=\"0x%x\" maxconn=\"131072\" gdr=\"1\"/></nic>\n</pci>\n",
            n, n, (unsigned)m->nic_gbps[n] * 1000, n + 1);
}

static void write_devices(FILE *out, const struct nccl_machine *m, bool at_cpu, uint32_t parent)
{
    for (uint32_t g = 0; g < m->gpus; g++)
        if (m->gpu_slot[g].at_cpu == at_cpu && m->gpu_slot[g].parent == parent)
            write_gpu(out, m, g);
    for (uint32_t n = 0; n < m->nics; n++)
        if (m->nic_slot[n].at_cpu == at_cpu && m->nic_slot[n].parent == parent)
            write_nic(out, m, n);
}

static void write_cpu(FILE *out, const struct nccl_machine *m, uint32_t cpu)
{
    static const char *const kinds[] = {"x86_64\" vendor=\"GenuineIntel",
                                        ("x86_64\" vendor=\""
                                         "AuthenticAMD"),
                                        "arm64"};
    fprintf(out,
            "<cpu host_hash=\"0x9f\" numaid=\"%u\" affinity=\"ff\" arch=\"%s\" familyid=\"6\" "
            "modelid=\"%u\">\n",
            cpu, kinds[m->cpu],
            m->cpu_bw == 22   ? 143U
            : m->cpu_bw == 40 ? 207U
                              : 85U);
    write_devices(out, m, true, cpu);
    for (uint32_t s = 0; s < m->switches; s++) {
        if (m->pcie_switch[s].cpu != cpu)
            continue;
        write_pci(out, s + 1, "0x060400", m->pcie_switch[s].bw);
        write_devices(out, m, false, s);
        fprintf(out, "</pci>\n");
    }
    fprintf(out, "</cpu>\n");
}

// The file of a machine, to be freed.
static char *text_of(const struct nccl_machine *m)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    fprintf(out, "<system version=\"1\">\n");
    for (uint32_t c = 0; c < m->cpus; c++)
        write_cpu(out, m, c);
    fprintf(out, "</system>\n");
    assert_int_equal(fclose(out), 0);
    return text;
}

static void test_round_trip(void **state)
{
    static const char *const names[] = {"dgx2",  "dgx_a100",      "dgx_h100",      "dgx_b200",
                                        "gh200", "1gpu_a100_100", "1gpu_h100_400", "hgx_h100_200"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct nccl_machine *m = nccl_machine_named(names[i]);
        struct err err = {0};
        char *text = text_of(m);
        struct nccl_machine *read = machine_read(text, strlen(text), NULL, &err);
        if (read == NULL)
            fail_msg("%s: %s", names[i], err.n_errors > 0 ? err.items[0].text : "no error");
        assert_int_equal(err.n_items, 0);
        assert_string_equal(read->name, "t.xml");
        assert_int_equal(read->gpu, m->gpu);
        assert_int_equal(read->cpu, m->cpu);
        assert_int_equal(read->gpus, m->gpus);
        assert_int_equal(read->nics, m->nics);
        assert_int_equal(read->switches, m->switches);
        assert_int_equal(read->cpus, m->cpus);
        assert_int_equal(read->nvlink, m->nvlink);
        assert_int_equal(read->nvlinks, m->nvlinks);
        assert_float_equal(read->nvlink_bw, m->nvlink_bw, 0);
        assert_float_equal(read->c2c_bw, m->c2c_bw, 1e-9);
        assert_float_equal(read->cpu_bw, m->cpu_bw, 0);
        slots_equal(read->gpu_slot, m->gpu_slot, m->gpus);
        slots_equal(read->nic_slot, m->nic_slot, m->nics);
        for (uint32_t s = 0; s < m->switches; s++) {
            assert_int_equal(read->pcie_switch[s].cpu, m->pcie_switch[s].cpu);
            assert_float_equal(read->pcie_switch[s].bw, m->pcie_switch[s].bw, 1e-9);
        }
        for (uint32_t n = 0; n < m->nics; n++)
            assert_float_equal(read->nic_gbps[n], m->nic_gbps[n], 1e-9);
        free(read);
        free(text);
    }
}

/* ---- other forms, and wrong ones ---- */

// A server of two GPUs behind two bridges each, with parts to be replaced.
static const char small[] =
    "<system version=\"1\">\n"
    "<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"1\">\n"
    "<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"16.0 GT/s\" link_width=\"8\">\n"
    "<pci busid=\"0000:02:00.0\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">\n"
    "<pci busid=\"0000:03:00.0\" class=\"0x030200\" link_speed=\"\" link_width=\"0\">\n"
    "<gpu dev=\"0\" sm=\"80\" rank=\"1\"><nvlink target=\"0000:04:00.0\" count=\"4\" "
    "tclass=\"0x030200\"/></gpu></pci>\n"
    "<pci busid=\"0000:04:00.0\" class=\"0x030200\" link_speed=\"16.0 GT/s\" link_width=\"16\">\n"
    "<gpu dev=\"1\" sm=\"80\" rank=\"0\"><nvlink target=\"0000:03:00.0\" count=\"4\" "
    "tclass=\"0x030200\"/></gpu></pci>\n"
    "</pci>\n"
    "<pci busid=\"0000:05:00.0\" class=\"0x020000\" link_speed=\"16.0 GT/s\" link_width=\"16\">\n"
    "<nic><net name=\"a\" dev=\"0\" speed=\"100000\"/></nic></pci>\n"
    "</pci>\n"
    "<nic><net name=\"eth0\" dev=\"1\" speed=\"-1\"/></nic>\n"
    "</cpu>\n"
    "</system>\n";

// The text with `was` replaced by `is`, to be freed.
static char *changed(const char *text, const char *was, const char *is)
{
    const char *at = strstr(text, was);
    assert_non_null(at);
    size_t n = strlen(text) + strlen(is) + 1;
    char *new = memory_bytes(n);
    snprintf(new, n, "%.*s%s%s", (int)(at - text), text, is, at + strlen(was));
    return new;
}

// GPUs lie in the order of their ranks, the switch is the lowest one with both, and the slow socket
// is left out with a warning.
static void test_small(void **state)
{
    struct err err = {0};
    (void)state;
    struct nccl_machine *m = machine_read(small, sizeof small - 1, NULL, &err);
    assert_non_null(m);
    assert_int_equal(err.n_errors, 0);
    assert_int_equal(err.n_items, 1);
    assert_non_null(strstr(err.items[0].text, "1 of 2 NICs are left out, because they are slower"));
    assert_int_equal(m->switches, 1);
    assert_float_equal(m->pcie_switch[0].bw, 12, 1e-9); // 8 lanes of Gen4
    assert_float_equal(m->gpu_slot[0].bw, 24, 1e-9);    // rank 0 is the second one
    assert_float_equal(m->gpu_slot[1].bw, 12, 1e-9);    // no speed
    assert_int_equal(m->nvlink, NCCL_NVLINK_PAIRS);
    assert_int_equal(m->nvlinks, 4);
    assert_int_equal(m->nics, 1);
    free(m);
    err_free(&err);
    // CRLF changes nothing
    char *crlf = memory_bytes(2 * sizeof small), *to = crlf;
    for (const char *at = small; *at != '\0'; at++) {
        if (*at == '\n')
            *to++ = '\r';
        *to++ = *at;
    }
    m = machine_read(crlf, (size_t)(to - crlf), NULL, &err);
    assert_non_null(m);
    free(m);
    free(crlf);
    err_free(&err);
}

#define BRIDGE(bus, kind)                                                                          \
    "<pci busid=\"0000:" bus ":00.0\" class=\"0x060400\" " kind                                    \
    " link_speed=\"16.0 GT/s\" link_width=\"16\">\n"
#define BROADCOM                                                                                   \
    "vendor=\"0x1000\" device=\"0xc010\" subsystem_vendor=\"0x1000\" subsystem_device=\"0xa096\""
#define ON_BRIDGE(bus, device) BRIDGE(bus, "") device "</pci>\n"
#define TWO_LEVELS(kind)                                                                           \
    "<system><cpu arch=\"arm64\">" BRIDGE("01", kind)                                              \
        ON_BRIDGE("02", "<gpu dev=\"0\" sm=\"80\"/>")                                              \
            ON_BRIDGE("03", "<nic><net dev=\"0\" speed=\"200000\"/></nic>") BRIDGE("04", kind)     \
                ON_BRIDGE("05", "<gpu dev=\"1\" sm=\"80\"/>") ON_BRIDGE(                           \
                    "06",                                                                          \
                    "<nic><net dev=\"1\" speed=\"200000\"/></nic>") "</pci></pci></cpu></system>"

// A switch of two levels is one; where NCCL would see two, a warning says so.
static void test_two_levels(void **state)
{
    static const char *const texts[] = {TWO_LEVELS(BROADCOM), TWO_LEVELS("")};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct err err = {0};
        struct nccl_machine *m = machine_read(texts[i], strlen(texts[i]), NULL, &err);
        assert_non_null(m);
        assert_int_equal(err.n_items, i);
        if (i == 1)
            assert_said(&err, "plain", "PCIe switches under switches are taken as one");
        assert_int_equal(m->switches, 1);
        for (uint32_t d = 0; d < 2; d++)
            assert_true(!m->gpu_slot[d].at_cpu && !m->nic_slot[d].at_cpu);
        free(m);
        err_free(&err);
    }
}

static void test_errors(void **state)
{
    static const struct {
        const char *was, *is, *said;
    } cases[] = {
        {"sm=\"80\"", "", "line 6: sm is missing: the file must be what NCCL has found"},
        {"sm=\"80\"", "sm=\"-80\"", "line 6: sm is \"-80\", and must be a whole number"},
        {"sm=\"80\"", "sm=\"nan\"", "line 6: sm is \"nan\""},
        {"sm=\"80\"", "sm=\"99999999999999999999\"", "line 6: sm is \"99999999999999999999\""},
        {"sm=\"80\"", "sm=\"90\"", "GPUs are of several kinds"},
        {"sm=\"80\"", "sm=\"80\" gcn=\"942\"", "topologies of RCCL are not read"},
        {"rank=\"1\"", "rank=\"0\"", "two GPUs have one rank"},
        {"rank=\"1\"", "", "a GPU has no rank, and others have"},
        {"count=\"4\"", "count=\"5\"", "only NVLinks between each two GPUs"},
        {"tclass=\"0x030200\"", "tclass=\"0x068000\"", "leads to a GPU, and others to NVSwitches"},
        {"tclass=\"0x030200\"", "tclass=\"0x068001\"", "line 6: tclass is \"0x068001\""},
        {"link_speed=\"16 GT/s\"", "link_speed=\"17 GT/s\"", "line 4: link_speed \"17 GT/s\""},
        {"link_width=\"8\"", "link_width=\"-8\"", "line 3: link_width is \"-8\""},
        {"busid=\"0000:02:00.0\"", "busid=\"x\"", "line 4: busid is \"x\""},
        {"AuthenticAMD", "CentaurHauls", "line 2: the CPU is \"x86_64\" of \"CentaurHauls\""},
        {"<system version=\"1\">", "<topology>", "does not say which NVLinks"},
        {"<system version=\"1\">", "<!DOCTYPE a><system>", "a topology has no document type"},
        {"<nic><net name=\"a\"", "<fpga/><nic><net name=\"a\"", "<fpga> is not known here"},
        {"speed=\"100000\"", "speed=\"1e5\"", "speed is \"1e5\""},
        {"</system>", "", "is not XML"},
        {"</cpu>", "</cpu><cpu host_hash=\"0x2\" arch=\"x86_64\" vendor=\"AuthenticAMD\"/>",
         "several servers"},
        {"</cpu>", "</cpu><cpu arch=\"arm64\"/>", "the CPUs are of several kinds"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char *text = changed(small, cases[i].was, cases[i].is);
        struct nccl_machine *m = machine_read(text, strlen(text), NULL, &err);
        assert_null(m);
        assert_int_equal(err.n_errors, 1);
        assert_said(&err, cases[i].is, cases[i].said);
        free(text);
        err_free(&err);
    }
}

// What is cut off, has zero bytes or is deep has one error.
static void test_hostile(void **state)
{
    static const char *const others[] = {
        "", "\n", "<system/>",
        ("<graphs version=\"1\"><graph id=\"0\"><channel><net dev=\"0\"/>"
         "<gpu dev=\"0\"/></channel></graph></graphs>")};
    struct err err = {0};
    (void)state;
    for (size_t n = 0; n + 2 < sizeof small; n += 7) {
        assert_null(machine_read(small, n, NULL, &err));
        assert_int_equal(err.n_errors, 1);
        err_free(&err);
        err = (struct err){0};
    }
    char *zero = changed(small, "dev=\"1\"", "dev=\"1\"");
    zero[300] = '\0';
    assert_null(machine_read(zero, sizeof small - 1, NULL, &err));
    assert_int_equal(err.n_errors, 1);
    free(zero);
    err_free(&err);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        err = (struct err){0};
        assert_null(machine_read(others[i], strlen(others[i]), NULL, &err));
        assert_int_equal(err.n_errors, 1);
        err_free(&err);
    }
    err = (struct err){0};
    enum { DEEP = 100000 };
    static const char head[] = "<system><cpu arch=\"arm64\">", pci[] = "<pci busid=\"0\">";
    char *deep = memory_bytes(sizeof head + DEEP * sizeof pci);
    memcpy(deep, head, sizeof head - 1);
    for (size_t i = 0; i < DEEP; i++)
        memcpy(deep + sizeof head - 1 + i * (sizeof pci - 1), pci, sizeof pci - 1);
    assert_null(machine_read(deep, sizeof head - 1 + DEEP * (sizeof pci - 1), NULL, &err));
    assert_non_null(strstr(err.items[0].text, "more than 64 elements lie in each other"));
    free(deep);
    err_free(&err);
}

#define SCENARIO(machine, nodes)                                                                   \
    "{\"name\":\"t\",\"topology\":{\"machine\":" machine ",\"nodes\":" nodes                       \
    "},\"workload\":{\"kind\":\"collective\",\"op\":\"all_reduce\",\"bytes\":\"1MB\"}}"

// A scenario takes the file by its name or as an object.
static void test_scenario(void **state)
{
    static const struct {
        const char *text, *said; // NULL = it is read
    } cases[] = {
        {SCENARIO("\"m.xml\"", "2"), NULL},
        {SCENARIO("{\"file\":\"m.xml\"}", "2"), NULL},
        {SCENARIO("{\"file\":\"m.xml\",\"nics\":4}", "2"), "nics"},
        {SCENARIO("{\"file\":7}", "2"), "must be the name of a file"},
        {SCENARIO("\"none.xml\"", "2"), "none.xml cannot be opened"},
    };
    (void)state;
    char *text = text_of(nccl_machine_named("dgx_a100"));
    file_write("m.xml", text, strlen(text));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct scenario *s = load(cases[i].text, &err);
        if ((s != NULL) != (cases[i].said == NULL))
            fail_msg("%s: %s", cases[i].text, err.n_items > 0 ? err.items[0].text : "read");
        if (s == NULL)
            assert_non_null(strstr(err.items[0].text, cases[i].said));
        else
            assert_int_equal(scenario_spec(s)->dims[0].size, 8);
        scenario_free(s);
        err_free(&err);
    }
    file_remove("m.xml");
    free(text);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_small),
        cmocka_unit_test(test_two_levels), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_hostile),    cmocka_unit_test(test_scenario),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
