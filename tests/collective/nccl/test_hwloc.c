// SPDX-License-Identifier: MIT
// Files in the shape of lstopo's: the machines of the table come back from files that say the same
// as far as hwloc does, and every wrong file has one error.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "tests/collective/nccl/topology_file.h"

/* ---- a machine as a file, in the form of lstopo ---- */

// The rate that hwloc writes for 16 lanes of PCIe, for the rate that NCCL counts; both in GB/s.
static const char *speed_of(double gbytes)
{
    return gbytes == 12 ? "15.753846" : gbytes == 24 ? "31.507692" : "63.015385";
}

static void write_device(FILE *out, const char *type, double gbytes, unsigned bus)
{
    fprintf(out,
            "<object type=\"PCIDev\" gp_index=\"%u\" pci_busid=\"0000:%02x:00.0\" pci_type=\"%s\" "
            "pci_link_speed=\"%s\">\n<info name=\"PCIVendor\" value=\"a &quot;vendor&quot;\"/>\n",
            bus, bus, type, speed_of(gbytes));
}

static void write_devices(FILE *out, const struct nccl_machine *m, bool at_cpu, uint32_t parent)
{
    for (uint32_t g = 0; g < m->gpus; g++)
        if (m->gpu_slot[g].at_cpu == at_cpu && m->gpu_slot[g].parent == parent) {
            write_device(out, "0302 [10de:2330] [10de:16c1] a1", m->gpu_slot[g].bw, 0x40 + g);
            fprintf(out, "<object type=\"OSDev\" name=\"nvml%u\" osdev_type=\"1\"/>\n</object>\n",
                    g);
        }
    for (uint32_t n = 0; n < m->nics; n++)
        if (m->nic_slot[n].at_cpu == at_cpu && m->nic_slot[n].parent == parent) {
            write_device(out, "0207 [15b3:1021] [15b3:0041] 00", m->nic_slot[n].bw, 0x80 + n);
            fprintf(out,
                    "<object type=\"OSDev\" name=\"ibs%u\" osdev_type=\"2\"><info name=\"Address\" "
                    "value=\"20:00\"/></object>\n"
                    "<object type=\"OSDev\" name=\"mlx5_%u\" osdev_type=\"3\"/>\n</object>\n",
                    n, n);
        }
}

// Vendor and model of the CPUs; NULL = of ARM.
static const char *vendor_of(const struct nccl_machine *m)
{
    static const char *const vendors[] = {"GenuineIntel", "AuthenticAMD", NULL};
    return vendors[m->cpu];
}

static char *text_of(const struct nccl_machine *m)
{
    struct text text;
    FILE *out = text_open(&text);
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
                 "<object type=\"Machine\" os_index=\"0\" cpuset=\"0xff\">\n");
    fprintf(out, "<info name=\"Architecture\" value=\"%s\"/>\n",
            vendor_of(m) != NULL ? "x86_64" : "aarch64");
    for (uint32_t c = 0; c < m->cpus; c++) {
        fprintf(out, "<object type=\"Package\" os_index=\"%u\" cpuset=\"0xf\">\n", c);
        if (vendor_of(m) != NULL)
            fprintf(out,
                    "<info name=\"CPUVendor\" value=\"%s\"/>\n"
                    "<info name=\"CPUFamilyNumber\" value=\"6\"/>\n"
                    "<info name=\"CPUModelNumber\" value=\"%d\"/>\n",
                    vendor_of(m),
                    m->cpu_bw == 22   ? 143
                    : m->cpu_bw == 40 ? 207
                                      : 85);
        fprintf(out,
                "<object type=\"NUMANode\" os_index=\"%u\" cpuset=\"0xf\"/>\n"
                "<object type=\"Core\" os_index=\"0\"><object type=\"PU\"/></object>\n",
                c);
        for (uint32_t s = 0; s < m->switches; s++)
            if (m->pcie_switch[s].cpu == c) {
                fprintf(out,
                        "<object type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\">\n"
                        "<object type=\"Bridge\" bridge_type=\"1-1\" depth=\"1\" pci_busid="
                        "\"0000:%02x:00.0\" pci_type=\"0604 [1234:0001] [0000:0000] 00\" "
                        "pci_link_speed=\"%s\">\n",
                        s + 1, speed_of(m->pcie_switch[s].bw));
                write_devices(out, m, false, s);
                fprintf(out, "</object>\n</object>\n");
            }
        fprintf(out, "<object type=\"Bridge\" bridge_type=\"0-1\" depth=\"0\">\n");
        write_devices(out, m, true, c);
        fprintf(out, "</object>\n</object>\n");
    }
    fprintf(out, "</object>\n<support name=\"discovery.pu\"/>\n</topology>\n");
    return text_close(out, &text);
}

static void test_round_trip(void **state)
{
    static const char *const names[] = {"dgx2",     "dgx_a100", "dgx_h100",
                                        "dgx_b200", "gh200",    "1gpu_h100_400"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct nccl_machine *m = nccl_machine_named(names[i]);
        struct err err = {0};
        char *text = text_of(m);
        struct nccl_machine *read = machine_read(text, strlen(text), names[i], &err);
        if (read == NULL)
            fail_msg("%s: %s", names[i], err.n_errors > 0 ? err.items[0].text : "no error");
        assert_int_equal(err.n_items, 1); // the rate of NICs
        assert_non_null(strstr(err.items[0].text, "hwloc does not give the rate of NICs"));
        assert_string_equal(read->source, "a topology of hwloc");
        assert_int_equal(read->gpu, m->gpu);
        assert_int_equal(read->cpu, m->cpu);
        assert_int_equal(read->gpus, m->gpus);
        assert_int_equal(read->nics, m->nics);
        assert_int_equal(read->switches, m->switches);
        assert_int_equal(read->cpus, m->cpus);
        assert_int_equal(read->nvlink, m->nvlink);
        assert_int_equal(read->nvlinks, m->nvlinks);
        assert_float_equal(read->c2c_bw, m->c2c_bw, 0);
        assert_float_equal(read->cpu_bw, m->cpu_bw, 0);
        slots_equal(read->gpu_slot, m->gpu_slot, m->gpus);
        slots_equal(read->nic_slot, m->nic_slot, m->nics);
        // PCIe of 16 lanes: 12 GB/s carry 100 Gbit/s, 24 GB/s 200, and 48 GB/s 400.
        for (uint32_t n = 0; n < m->nics; n++)
            assert_float_equal(read->nic_gbps[n],
                               m->nic_slot[n].bw == 12   ? 100
                               : m->nic_slot[n].bw == 24 ? 200
                                                         : 400,
                               1e-9);
        err_free(&err);
        free(read);
        free(text);
    }
}

/* ---- other forms, and wrong ones ---- */

static const char small[] =
    "<topology version=\"2.0\">\n"
    "<object type=\"Machine\">\n"
    "<object type=\"Package\"><info name=\"CPUVendor\" value=\"AuthenticAMD\"/>\n"
    "<object type=\"NUMANode\"/>\n"
    "<object type=\"NUMANode\" subtype=\"GPUMemory\"/>\n"
    "<object type=\"Bridge\" bridge_type=\"0-1\">\n"
    "<object type=\"PCIDev\" pci_type=\"0300 [1a03:2000] [0000:0000] 41\" pci_link_speed=\"0\"/>\n"
    "<object type=\"PCIDev\" pci_type=\"0302 [10de:2331] [0000:0000] a1\" pci_link_speed=\"0\"/>\n"
    "<object type=\"PCIDev\" pci_type=\"0200 [8086:1521] [0000:0000] 01\" "
    "pci_link_speed=\"2.000\">\n"
    "<object type=\"OSDev\" osdev_type=\"2\" name=\"eth0\"/></object>\n"
    "</object></object></object></topology>\n";

// `small` with one part replaced; to be freed.
static char *with(const char *part, const char *by)
{
    const char *at = strstr(small, part);
    assert_non_null(at);
    return text_format("%.*s%s%s", (int)(at - small), small, by, at + strlen(part));
}

static void test_small(void **state)
{
    struct err err = {0};
    (void)state;
    struct nccl_machine *m = machine_read(small, strlen(small), "1gpu_h100_400", &err);
    assert_non_null(m);
    assert_int_equal(err.n_items, 2);
    assert_non_null(strstr(err.items[0].text, "10 Gbit/s"));
    assert_non_null(strstr(err.items[1].text, "1 of 1 GPUs have no PCIe speed"));
    assert_int_equal(m->gpus, 1);
    assert_int_equal(m->nics, 1);
    assert_int_equal(m->cpus, 1);
    assert_int_equal(m->nvlink, NCCL_NVLINK_NONE);
    assert_float_equal(m->gpu_slot[0].bw, 12, 0);
    assert_float_equal(m->nic_slot[0].bw, 1.5, 0);
    err_free(&err);
    free(m);
    // Version 3 has bits for the types of devices.
    char *third = with("2.0", "3.0");
    assert_null(strstr(third, "osdev_type=\"16\""));
    m = machine_read(third, strlen(third), "1gpu_h100_400", &err);
    assert_true(m == NULL || m->nics == 0);
    err_free(&err);
    free(m);
    free(third);
}

static void test_errors(void **state)
{
    static const struct {
        const char *part, *by, *like, *said;
    } cases[] = {
        {"10de", "10de", NULL, "does not say which NVLinks the GPUs have: {\"file\": \"t.xml\""},
        {"10de", "10de", "mi300x", "whose GPUs are AMD's"},
        {"10de", "1002", "dgx_h100", "line 8: a GPU of AMD: machine \"mi300x\""},
        {"10de", "8086", "dgx_h100", "has no GPU (a PCIDev of NVIDIA"},
        {"AuthenticAMD", "Sparkle", "dgx_h100", "line 3: CPUVendor is \"Sparkle\""},
        {"<info name=\"CPUVendor\" value=\"AuthenticAMD\"/>", "", "dgx_h100", "no CPUVendor"},
        {"2.000", "-2", "dgx_h100", "line 9: pci_link_speed is \"-2\""},
        {"2.000", "nan", "dgx_h100", "line 9: pci_link_speed is \"nan\""},
        {"2.000", "1e400", "dgx_h100", "line 9: pci_link_speed is \"1e400\""},
        {"0302 [10de", "0302 (10de", "dgx_h100", "line 8: pci_type is"},
        {" version=\"2.0\"", "", "dgx_h100", "line 1: is of hwloc 1"},
        {"<topology", "<!DOCTYPE topology [<!ENTITY a \"b\">]><topology", "dgx_h100",
         "has no document type"},
        {"</topology>", "", "dgx_h100", "is not XML"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char *text = with(cases[i].part, cases[i].by);
        struct nccl_machine *m = machine_read(text, strlen(text), cases[i].like, &err);
        const char *last = err.n_items > 0 ? err.items[err.n_items - 1].text : "read";
        if (m != NULL || err.n_errors != 1 || strstr(last, cases[i].said) == NULL)
            fail_msg("%s: %s", cases[i].said, last);
        free(text);
        err_free(&err);
    }
    struct err err = {0};
    enum { DEEP = 100000 };
    static const char head[] = "<topology version=\"2.0\">", object[] = "<object type=\"Group\">";
    char *deep = memory_bytes(sizeof head + DEEP * sizeof object);
    memcpy(deep, head, sizeof head - 1);
    for (size_t i = 0; i < DEEP; i++)
        memcpy(deep + sizeof head - 1 + i * (sizeof object - 1), object, sizeof object - 1);
    assert_null(machine_read(deep, sizeof head - 1 + DEEP * (sizeof object - 1), "dgx_h100", &err));
    assert_non_null(strstr(err.items[0].text, "more than 64 elements lie in each other"));
    free(deep);
    err_free(&err);
}

#define SCENARIO(machine)                                                                          \
    "{\"name\":\"t\",\"topology\":{\"machine\":" machine ",\"nodes\":2"                            \
    "},\"workload\":{\"kind\":\"collective\",\"op\":\"all_reduce\",\"bytes\":\"1MB\"}}"

static void test_scenario(void **state)
{
    static const struct {
        const char *text, *said; // NULL = it is read
    } cases[] = {
        {SCENARIO("{\"file\":\"m.xml\",\"like\":\"dgx_a100\"}"), NULL},
        {SCENARIO("\"m.xml\""), "does not say which NVLinks"},
        {SCENARIO("{\"file\":\"m.xml\",\"like\":\"sparkle\"}"), "sparkle"},
        {SCENARIO("{\"file\":\"n.xml\",\"like\":\"dgx_a100\"}"), "n.xml cannot be opened"},
    };
    (void)state;
    char *text = text_of(nccl_machine_named("dgx_a100"));
    file_write("m.xml", text, strlen(text));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct scenario *s = load(cases[i].text, &err);
        if ((s != NULL) != (cases[i].said == NULL))
            fail_msg("%s: %s", cases[i].text, err.n_items > 0 ? err.items[0].text : "read");
        if (s == NULL && strstr(err.items[0].text, cases[i].said) == NULL)
            fail_msg("%s: %s", cases[i].said, err.items[0].text);
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
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_scenario),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
