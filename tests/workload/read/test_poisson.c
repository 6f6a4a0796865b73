// SPDX-License-Identifier: MIT
// Background traffic: distributions from files, offered load, gaps between flows.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/config/load.h"
#include "workload/flows.h"
#include "workload/read/cdf_file.h"

#define POISSON(load, duration)                                                                    \
    "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":8}]},"                  \
    "\"workload\":{\"kind\":\"poisson\",\"cdf\":\"sizes.txt\",\"load\":" load                      \
    ",\"duration\":\"" duration "\"}}"

static void assert_error(const char *scenario, const char *says)
{
    struct err err = {0};
    assert_null(load(scenario, &err));
    assert_said(&err, scenario, says);
    err_free(&err);
}

static void sizes_write(const char *text) { file_write("sizes.txt", text, strlen(text)); }

// Mean and inverse by hand: half of the flows up to 100 B, the others up to 1100 B.
static void test_distribution(void **state)
{
    (void)state;
    struct cdf_point points[] = {{0, 0}, {100, 0.5}, {100, 0.6}, {1100, 1}};
    struct cdf cdf = {points, 4};
    assert_true(fabs(cdf_mean_bytes(&cdf) - (0.5 * 50 + 0.1 * 100 + 0.4 * 600)) < 1e-9);
    assert_int_equal(cdf_bytes(&cdf, 0), 1);
    assert_int_equal(cdf_bytes(&cdf, 0.25), 50);
    assert_int_equal(cdf_bytes(&cdf, 0.55), 100);
    assert_int_equal(cdf_bytes(&cdf, 0.8), 600);
    assert_true(cdf_bytes(&cdf, 0.9999999) >= 1099);
}

// Offered load, and gaps whose deviation equals their mean, as for exponential ones; 95 % of the
// sums of n exponential gaps are within 2/sqrt(n) of the mean.
static void test_load(void **state)
{
    (void)state;
    struct err err = {0};
    sizes_write("# bytes percent\n1000 0\n 3000 50\n5000 100\n");
    struct scenario *s = load(POISSON("0.4", "20ms"), &err);
    assert_non_null(s);
    const struct job_spec *job = &scenario_spec(s)->jobs[0];
    double bytes = 0, gaps = 0, squares = 0, n = 0;
    ps_t last[8] = {0};
    uint32_t to[8] = {0};
    for (size_t i = 0; i < job_flows(job)->n; i++) {
        const struct raw_flow *f = &job_flows(job)->flows[i];
        assert_true(f->src < 8 && f->dst < 8 && f->src != f->dst);
        assert_true(f->bytes >= 1000 && f->bytes <= 5000);
        assert_true(f->start_ps >= last[f->src] && f->start_ps < 20 * PS_PER_MS);
        double gap = (double)(f->start_ps - last[f->src]);
        last[f->src] = f->start_ps;
        gaps += gap, squares += gap * gap, bytes += (double)f->bytes, n += 1;
        to[f->dst]++;
    }
    double offered = bytes * 8 / 0.02 / (8 * 100e9), mean = gaps / n;
    double deviation = sqrt(squares / n - mean * mean);
    print_message("%.0f flows, load %.4f, deviation of gaps / mean %.3f\n", n, offered,
                  deviation / mean);
    assert_true(fabs(offered / 0.4 - 1) < 2 / sqrt(n) + 0.005);
    assert_true(fabs(deviation / mean - 1) < 0.05);
    for (int r = 0; r < 8; r++)
        assert_true(fabs((double)to[r] / (n / 8) - 1) < 0.06);
    scenario_free(s);
    file_remove("sizes.txt");
}

static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "the last line must have 100 %"},
               {"0 0\n10 50\n", "the last line must have 100 %"},
               {"0 5\n10 100\n", "line 1: the first line must have 0 %"},
               {"0 0\n10 60\n5 100\n", "line 3: is below the line before it"},
               {"0 0\n10 60 7\n20 100\n", "line 2: is not a size in bytes and a percentage"},
               {"0 0\nten 100\n", "line 2: is not a size"},
               {"0 0\n10 101\n", "line 2: a size from 0 to 1e15 bytes"},
               {"0 0\n0 100\n", "the mean is below a byte"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sizes_write(bad[i].text);
        assert_error(POISSON("0.4", "1ms"), bad[i].says);
        file_remove("sizes.txt");
    }
    assert_error(POISSON("0.4", "1ms"), "sizes.txt");
    sizes_write("0 0\n100 100\n");
    assert_error(POISSON("1.5", "1ms"), "workload.load: 1.5 is above");
    assert_error(POISSON("1", "10s"), "workload.duration: makes more than");
    file_remove("sizes.txt");
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests_name("poisson", tests, folder_make, folder_remove);
}
