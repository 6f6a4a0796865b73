// SPDX-License-Identifier: MIT
// A PFC frame in captures: it has 64 bytes on the wire, it waits for the packet in transmission,
// and the sender's last start and next start agree with the arrivals of XOFF and XON to 1 ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)
#define DELAY_NS 1000

struct seen {
    int64_t ns;
    uint32_t length;
    unsigned char bytes[64];
    bool from_switch, pfc;
    unsigned quanta; // of class 3
};

struct seen_list {
    struct seen *list;
    size_t n;
};

static bool to_rank0(const struct seen *r)
{
    static const unsigned char rank0[6] = {2, 0, 0, 0, 0, 1};
    return memcmp(r->bytes, rank0, 6) == 0;
}

static struct seen_list read_capture(const char *path)
{
    struct seen_list all = {calloc(200000, sizeof(struct seen)), 0};
    FILE *f = fopen(path, "rb");
    uint32_t header[6], word[4];
    assert_non_null(f);
    assert_int_equal(fread(header, sizeof header, 1, f), 1);
    while (fread(word, sizeof word, 1, f) == 1) {
        struct seen *r = &all.list[all.n++];
        assert_true(all.n < 200000 && word[2] <= sizeof r->bytes);
        assert_int_equal(fread(r->bytes, 1, word[2], f), word[2]);
        r->ns = (int64_t)word[0] * 1000000000 + word[1];
        r->length = word[3];
        r->pfc = r->bytes[12] == 0x88 && r->bytes[13] == 0x08;
        r->quanta = (unsigned)r->bytes[24] << 8 | r->bytes[25]; // 14 + opcode, vector, classes 0..2
        r->from_switch = r->pfc || to_rank0(r);
    }
    fclose(f);
    return all;
}

// Two senders to rank2 through a small buffer, while rank2 sends to rank0: large packets to rank0
// occupy the wire when XOFF must be sent to rank0.
static void capture_run(int stamp, struct seen_list *at_rank, struct seen_list *at_switch)
{
    struct fixture f;
    struct err err = {0};
    char dir[] = "/tmp/collwire-test-XXXXXX", path[64];
    struct capture_spec captures[2] = {{.at = "rank0", .file = "rank.pcap"},
                                       {.at = "dim0.sw0->rank0", .file = "switch.pcap"}};
    struct capture_output to = {dir, dir, "test"};
    for (int i = 0; i < 2; i++) {
        captures[i].filter = captures[i].trigger = "";
        captures[i].snaplen_bytes = 64;
        captures[i].stamp = stamp;
        captures[i].ring_bytes = CAPTURE_RING_AUTO;
        captures[i].to_ps = PS_NEVER;
    }
    assert_non_null(mkdtemp(dir));
    fixture_switch(&f, 3, RATE, DELAY_NS * PS_PER_NS);
    f.spec.dims[0].sw.buffer_bytes = 500000;
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 4096;
    fixture_flow(&f, 0, 2, 2000000, 0);
    fixture_flow(&f, 1, 2, 2000000, 0);
    fixture_flow(&f, 2, 0, 4000000, 0);
    f.spec.captures = captures;
    f.spec.n_captures = 2;
    f.sim = sim_new(&f.spec, &err);
    assert_non_null(f.sim);
    assert_int_equal(sim_open_captures(f.sim, &to, &err), 0);
    sim_run(f.sim, NULL);
    assert_int_equal(sim_close_captures(f.sim, &err), 0);
    f.result = sim_result(f.sim);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->pause_frames > 2);
    snprintf(path, sizeof path, "%s/rank.pcap", dir);
    *at_rank = read_capture(path);
    unlink(path);
    snprintf(path, sizeof path, "%s/switch.pcap", dir);
    *at_switch = read_capture(path);
    unlink(path);
    rmdir(dir);
    fixture_free(&f);
}

static void test_pause_waits_and_stops(void **state)
{
    (void)state;
    struct seen_list first, first_switch, last, last_switch;
    capture_run(0, &first, &first_switch);
    capture_run(1, &last, &last_switch);
    assert_int_equal(first_switch.n, last_switch.n);
    unsigned waited = 0, stops = 0;
    for (size_t i = 1; i < first_switch.n; i++) {
        if (!first_switch.list[i].pfc)
            continue;
        assert_int_equal(first_switch.list[i].length, 60); // and 4 of FCS, which captures leave out
        // 84 wire bytes at 80 ps: 6.72 ns
        int64_t time = last_switch.list[i].ns - first_switch.list[i].ns;
        assert_true(time == 6 || time == 7);
        // Never inside the previous packet; if that was still in transmission, directly after it.
        int64_t gap = first_switch.list[i].ns - last_switch.list[i - 1].ns;
        assert_true(gap >= 0);
        waited += gap == 0;
    }
    assert_true(waited > 2);
    // At the rank, with whole packets' arrivals (last) and starts of its own (first).
    for (size_t i = 0; i < last.n; i++) {
        if (!last.list[i].pfc || last.list[i].quanta == 0)
            continue;
        int64_t pause = last.list[i].ns, resume = 0, next = 0;
        for (size_t k = i + 1; k < last.n && !resume; k++)
            if (last.list[k].pfc && last.list[k].quanta == 0)
                resume = last.list[k].ns;
        for (size_t k = 0; k < first.n && !next; k++)
            if (!first.list[k].from_switch && first.list[k].ns > pause)
                next = first.list[k].ns;
        if (!resume || !next)
            break; // the flow has ended
        assert_true(llabs(next - resume) <=
                    1); // nothing starts between; the first start is at once
        stops++;
    }
    assert_true(stops > 2);
    free(first.list);
    free(first_switch.list);
    free(last.list);
    free(last_switch.list);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pause_waits_and_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
