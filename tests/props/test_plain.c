// SPDX-License-Identifier: MIT
// The fast engine against the reference engine (--plain). On random scenarios metrics.json is the
// same, byte for byte, whether every departure is an event or ports catch up when they are read,
// and with or without prefetching, which chooses routes early.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/metrics.h"
#include "tests/support/random.h"

#define SCENARIOS 600

struct outcome {
    char *metrics;
    uint64_t events, hops;
    bool paused, dropped, marked, direct;
};

static struct outcome run(uint64_t seed, bool reference)
{
    struct fixture *f = malloc(sizeof *f);
    struct err err = {0};
    random_any(f, seed);
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err); // warnings
    if (reference)
        sim_set_plain(f->sim);
    else
        network_set_hints(&f->sim->fabric.net, seed % 2 == 0);
    sim_run(f->sim, NULL);
    struct result *r = f->result = sim_result(f->sim);
    struct outcome o = {metrics_json(r, "{}"),
                        r->events,
                        r->packet_hops,
                        r->pause_frames > 0,
                        r->dropped_packets > 0,
                        r->marked_packets > 0,
                        f->sim->fabric.switches.n_routers > 0};
    fixture_free(f);
    free(f);
    return o;
}

static char *whole_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

// Captures the packets of all links to a file.
static char *capture_of(uint64_t seed, bool reference, size_t *size)
{
    struct fixture *f = malloc(sizeof *f);
    struct err err = {0};
    struct capture_spec capture = {.at = "*->*",
                                   .file = "all.pcapng",
                                   .filter = "",
                                   .trigger = "",
                                   .snaplen_bytes = 420,
                                   .ring_bytes = CAPTURE_RING_AUTO,
                                   .stamp = seed % 2 ? 0 : 1,
                                   .to_ps = PS_NEVER};
    char dir[] = "/tmp/collwire-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    random_any(f, seed);
    f->spec.captures = &capture;
    f->spec.n_captures = 1;
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err); // warnings
    if (reference)
        sim_set_plain(f->sim);
    else
        network_set_hints(&f->sim->fabric.net, seed % 3 == 0);
    struct capture_output to = {dir, dir, "test"};
    assert_int_equal(sim_open_captures(f->sim, &to, &err), 0);
    sim_run(f->sim, NULL);
    f->result = sim_result(f->sim);
    assert_int_equal(sim_close_captures(f->sim, &err), 0);
    uint64_t lost = 0; // dropped packets are in the capture too
    for (unsigned reason = 0; reason < DROP_REASONS; reason++)
        lost += f->sim->fabric.net.drops[reason].packets;
    assert_true(captures_count(f->sim->captures, 0).packets == f->result->packet_hops + lost);
    fixture_free(f);
    free(f);
    snprintf(path, sizeof path, "%s/all.pcapng", dir);
    char *bytes = whole_file(path, size);
    unlink(path);
    rmdir(dir);
    return bytes;
}

static void test_same_captures(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SCENARIOS / 6; seed++) {
        size_t fast_size, reference_size;
        char *fast = capture_of(seed, false, &fast_size);
        char *reference = capture_of(seed, true, &reference_size);
        if (fast_size != reference_size || memcmp(fast, reference, fast_size) != 0)
            fail_msg("seed %llu: captures differ", (unsigned long long)seed);
        free(fast);
        free(reference);
    }
}

// Returns the first difference of two texts, for the message.
static const char *first_difference(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return a + (i > 60 ? i - 60 : 0);
}

static void test_same_bytes(void **state)
{
    (void)state;
    unsigned paused = 0, dropped = 0, marked = 0, direct = 0;
    uint64_t events = 0, reference_events = 0, hops = 0;
    for (uint64_t seed = 1; seed <= SCENARIOS; seed++) {
        struct outcome fast = run(seed, false), reference = run(seed, true);
        if (strcmp(fast.metrics, reference.metrics) != 0)
            fail_msg("seed %llu: fast %.120s\n reference %.120s", (unsigned long long)seed,
                     first_difference(fast.metrics, reference.metrics),
                     first_difference(reference.metrics, fast.metrics));
        paused += fast.paused;
        dropped += fast.dropped;
        marked += fast.marked;
        direct += fast.direct && fast.paused;
        events += fast.events;
        reference_events += reference.events;
        hops += fast.hops;
        free(fast.metrics);
        free(reference.metrics);
    }
    print_message("%u scenarios: %u paused (%u of them routers of ranks), %u dropped, %u "
                  "marked; events per packet-hop %.2f, reference %.2f\n",
                  SCENARIOS, paused, direct, dropped, marked, (double)events / (double)hops,
                  (double)reference_events / (double)hops);
    assert_true(paused > SCENARIOS / 5 && dropped > SCENARIOS / 20 && marked > SCENARIOS / 5);
    assert_true(direct > SCENARIOS / 40);
    assert_true(events < reference_events);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_same_captures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
