// SPDX-License-Identifier: MIT
// docs/metrics.md matches the tables of metrics.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/metric_json.h"
#include "report/metric_table.h"
#include "report/rows.h"
#include "tests/support/generated.h"

static void write_row(void *ctx, const char *path, const struct metric *m)
{
    fprintf(ctx, "| `%s` | %s | %s |\n", path, metric_unit_name(m->unit), m->help);
}

static void write_columns(FILE *out)
{
    fputs("\n## Columns of tables, compare.csv and compare.json\n\n"
          "A column is a metric of metrics.json; over a list (several collectives, iterations) "
          "it is their mean (and of the whole run only if there is one job).\n"
          "\n| heading | key | metric | unit | meaning |\n|---|---|---|---|---|\n"
          "| | `scenario` | `name` | | of the scenario |\n"
          "| the key | each path of `--vary` (compare.json: `vary`) | | | its value, as given |\n"
          "| policy | `policy` (compare.json: `cc`) | | | the policy, as given |\n"
          "| seed | `seed` | `seed` | | of the run |\n"
          "| job | `job` | `jobs[].name` | | empty = the whole run |\n"
          "| status | `status` | `status` | | failed = the run wrote no metrics |\n",
          out);
    for (size_t i = 0; i < (size_t)ROW_COLUMNS; i++) {
        const struct row_column *c = &row_columns[i];
        const struct metric *m = metric_at_path(&metrics_table, c->path);
        fprintf(out, "| %s | `%s` | `%s` | %s | %s |\n", c->heading, c->key, c->path,
                metric_unit_name(m->unit), m->help);
    }
}

static char *page(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs("# Metrics\n\n"
          "Generated from `report/metric_table.c` and its parts "
          "(tests/generated/test_metrics.c): what `collwire list\n"
          "metrics` prints. A list is written `flows[]`, the keys of its items `flows[].id`; "
          "null means that there is\n"
          "no value, such as the completion time of a message that did not complete. Frame "
          "bytes are those of a\npacket with its headers; payload is what messages carry.\n",
          out);
    for (size_t f = 0; f < n_metric_files; f++) {
        const struct metric_file *file = &metric_files[f];
        fprintf(out, "\n## %s\n\nHolds %s.\n\n| %s | unit | meaning |\n|---|---|---|\n", file->name,
                file->help, f < 2 ? "key" : "column");
        metric_walk(file->table, "", write_row, out);
    }
    write_columns(out);
    fclose(out);
    return text;
}

static void test_page_is_current(void **state)
{
    (void)state;
    char *now = page();
    assert_generated("docs/metrics.md", now);
    free(now);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page_is_current)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
