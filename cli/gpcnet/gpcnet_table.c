// SPDX-License-Identifier: MIT
#include "cli/gpcnet/gpcnet_table.h"

#include <string.h>

#define WIDTH 78

static const char *const units[GPCNET_TESTS] = {"usec", "MiB/s/rank", "usec"};

static double worse(double beside, double alone, enum gpcnet_test test)
{
    return gpcnet_test_bytes(test) > 0 ? alone / beside : beside / alone;
}

double impact_mean(const struct impact *i, enum gpcnet_test test)
{
    return worse(measured_mean(&i->beside[test]), measured_mean(&i->alone[test]), test);
}

double impact_p99(const struct impact *i, enum gpcnet_test test)
{
    return worse(measured_p99(&i->beside[test], test), measured_p99(&i->alone[test], test), test);
}

/* ---- text ---- */

static void print_bar(FILE *out, const int *widths, size_t n)
{
    fputc('+', out);
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < widths[i]; c++)
            fputc('-', out);
        fputc('+', out);
    }
    fputc('\n', out);
}

static void print_title(FILE *out, const char *title)
{
    int left = (WIDTH - (int)strlen(title)) / 2, whole = WIDTH;
    fputc('\n', out);
    print_bar(out, &whole, 1);
    fprintf(out, "|%*s%s%*s|\n", left, "", title, WIDTH - left - (int)strlen(title), "");
}

static void print_values(FILE *out, const char *title, const struct measured *of)
{
    static const int widths[] = {33, 14, 14, 14};
    print_title(out, title);
    print_bar(out, widths, 4);
    fprintf(out, "| %31s | %12s | %12s | %12s |\n", "Name", "Avg", "99%", "Units");
    print_bar(out, widths, 4);
    for (int test = 0; test < GPCNET_TESTS; test++) {
        fprintf(out, "| %31s | %12.1f | %12.1f | %12s |\n", gpcnet_test_names[test],
                measured_mean(&of[test]), measured_p99(&of[test], (enum gpcnet_test)test),
                units[test]);
        print_bar(out, widths, 4);
    }
}

static void print_unfinished(FILE *out, const char *when, const struct measured *of)
{
    for (int test = 0; test < GPCNET_TESTS; test++)
        if (of[test].unfinished > 0)
            fprintf(out,
                    "%s, %s: %zu of %zu runs had not ended\n  in the time simulated, so they are "
                    "worse than these values.\n",
                    gpcnet_test_names[test], when, of[test].unfinished, of[test].runs);
}

void impact_print(FILE *out, const struct impact *i, const struct gpcnet_nodes *nodes)
{
    static const int widths[] = {33, 22, 21};
    fprintf(out,
            "\nNetwork Load Test under %s\n  %u ranks\n  %u ranks running Network Tests\n"
            "  %u ranks running Congestion Tests (at least %u ranks per congestor)\n",
            i->policy, nodes->n, nodes->victims, nodes->n - nodes->victims,
            (nodes->n - nodes->victims) / GPCNET_CONGESTORS);
    print_values(out, "Isolated Network Tests", i->alone);
    print_values(out, "Network Tests running with Congestion Tests", i->beside);
    print_title(out, "Network Tests running with Congestion Tests - Key Results");
    print_bar(out, widths, 3);
    fprintf(out, "| %31s | %20s | %19s |\n", "Congestion Impact Factor", "Avg", "99%");
    print_bar(out, widths, 3);
    for (int test = 0; test < GPCNET_TESTS; test++) {
        fprintf(out, "| %31s | %19.1fX | %18.1fX |\n", gpcnet_test_names[test],
                impact_mean(i, (enum gpcnet_test)test), impact_p99(i, (enum gpcnet_test)test));
        print_bar(out, widths, 3);
    }
    print_unfinished(out, "isolated", i->alone);
    print_unfinished(out, "congested", i->beside);
}

void impacts_print(FILE *out, const struct impact *list, size_t n)
{
    static const char *const heads[GPCNET_TESTS] = {"Latency", "Bandwidth", "Allreduce"};
    fprintf(out, "\nCongestion Impact Factor (mean, 99 %%)\n%-24s", "policy");
    for (int test = 0; test < GPCNET_TESTS; test++)
        fprintf(out, "  %15s", heads[test]);
    fputc('\n', out);
    for (size_t p = 0; p < n; p++) {
        fprintf(out, "%-24s", list[p].policy);
        for (int test = 0; test < GPCNET_TESTS; test++)
            fprintf(out, "  %7.2f %7.2f", impact_mean(&list[p], (enum gpcnet_test)test),
                    impact_p99(&list[p], (enum gpcnet_test)test));
        fputc('\n', out);
    }
}

/* ---- JSON ---- */

static json_t *values_json(const struct measured *m, enum gpcnet_test test)
{
    return json_pack("{s:f, s:f, s:I, s:I}", "mean", measured_mean(m), "p99", measured_p99(m, test),
                     "turns", (json_int_t)m->n, "unfinished", (json_int_t)m->unfinished);
}

static json_t *impact_json(const struct impact *i)
{
    json_t *tests = json_array();
    for (int t = 0; t < GPCNET_TESTS; t++) {
        enum gpcnet_test test = (enum gpcnet_test)t;
        json_array_append_new(
            tests, json_pack("{s:s, s:s, s:o, s:o, s:{s:f, s:f}}", "name", gpcnet_test_names[test],
                             "units", units[test], "isolated", values_json(&i->alone[test], test),
                             "congested", values_json(&i->beside[test], test), "impact", "mean",
                             impact_mean(i, test), "p99", impact_p99(i, test)));
    }
    return json_pack("{s:s, s:o}", "policy", i->policy, "tests", tests);
}

json_t *impacts_json(const struct impact *list, size_t n, const struct gpcnet_nodes *nodes)
{
    json_t *policies = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(policies, impact_json(&list[i]));
    return json_pack("{s:I, s:I, s:o}", "ranks", (json_int_t)nodes->n, "victims",
                     (json_int_t)nodes->victims, "policies", policies);
}
