// SPDX-License-Identifier: MIT
// docs/policies.md matches the registry and the header comments of the policies.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cc/catalogue.h"
#include "tests/support/generated.h"
#include "transport/transport.h"

#define LINE_MAX_BYTES 512

// Write the header comment of cc/NAME.c as prose, without the comment marks.
static void write_comment(FILE *out, const char *name)
{
    char path[128], line[LINE_MAX_BYTES];
    snprintf(path, sizeof path, "cc/%s.c", name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in)); // the licence
    while (fgets(line, sizeof line, in) && strncmp(line, "//", 2) == 0)
        fputs(line[2] == ' ' ? line + 3 : line + 2, out);
    fclose(in);
}

static void write_needs(FILE *out, unsigned needs)
{
    const char *between = "Needs ";
    for (const struct cc_need_word *word = cc_need_words; word->text != NULL; word++)
        if (needs & word->bit) {
            fprintf(out, "%s%s", between, word->text);
            between = ", ";
        }
    fputs(*between == ',' ? ".\n\n" : "Needs nothing of the transport or the switches.\n\n", out);
}

static void write_transports(FILE *out, const struct cc_ops *ops)
{
    const char *between = "Runs on ";
    for (size_t i = 0; transport_registry[i] != NULL; i++)
        if (transport_runs(transport_registry[i], ops)) {
            fprintf(out, "%s%s", between, transport_registry[i]->name);
            between = ", ";
        }
    fputs(*between == ',' ? ".\n\n" : "", out);
}

static void write_notification(FILE *out, const struct cc_preset *preset)
{
    static const char *const scopes[] = {[CNP_SCOPE_QP] = "queue pair",
                                         [CNP_SCOPE_DESTINATION] = "sender's address",
                                         [CNP_SCOPE_PORT] = "port"};
    char interval[UNIT_TEXT];
    struct cc_notification n = cc_notification_of(preset);
    if (n.cnp == CNP_PER_ACK)
        fputs(" CE echoed on every ACK |", out);
    else
        fprintf(out, " a CNP each %s per %s |", format_time(n.interval_ps, interval),
                scopes[n.scope]);
}

static void write_presets(FILE *out, const struct cc_ops *ops)
{
    bool notified = ops->needs & CC_NEEDS_CNP;
    char kmin[UNIT_TEXT], kmax[UNIT_TEXT], at[UNIT_TEXT];
    fprintf(
        out,
        "| preset | what it is | holds up to | over the defaults | marking that it expects |%s\n"
        "|---|---|---|---|---|%s\n",
        notified ? " notification |" : "", notified ? "---|" : "");
    for (size_t i = 0; i < ops->n_presets; i++) {
        const struct cc_preset *p = &ops->presets[i];
        fprintf(out, "| `%s`%s | %s | ", p->name, i == 0 ? " (default)" : "", p->doc);
        if (p->holds_bps > 0)
            fprintf(out, "%s | ", format_rate(p->holds_bps, at));
        else
            fputs("no | ", out);
        for (size_t v = 0; v < p->n_values; v++)
            fprintf(out, "%s%s %s", v > 0 ? ", " : "", p->values[v].param, p->values[v].value);
        if (!p->profile.ecn)
            fputs(" | none |", out);
        else if (p->profile.kmin_bytes == p->profile.kmax_bytes)
            fprintf(out, " | all above %s%s%s |", format_bytes(p->profile.kmin_bytes, kmin),
                    p->profile.scaled ? " * rate / " : "",
                    p->profile.scaled ? format_rate(p->profile.ref_bps, at) : "");
        else
            fprintf(out, " | %s to %s%s%s, up to %g |", format_bytes(p->profile.kmin_bytes, kmin),
                    format_bytes(p->profile.kmax_bytes, kmax),
                    p->profile.scaled ? " * rate / " : "",
                    p->profile.scaled ? format_rate(p->profile.ref_bps, at) : "", p->profile.pmax);
        if (notified)
            write_notification(out, p);
        fputs("\n", out);
    }
    fputs("\n", out);
}

// What the fields that presets set rest on.
static void write_bases(FILE *out, const struct cc_ops *ops)
{
    const char *head = "| preset | fields | evidence | source |\n|---|---|---|---|\n";
    for (size_t i = 0; i < ops->n_presets; i++)
        for (size_t b = 0; b < ops->presets[i].n_bases; b++) {
            const struct cc_basis *basis = &ops->presets[i].bases[b];
            fprintf(out, "%s| `%s` | %s | %s | %s |\n", head, ops->presets[i].name, basis->fields,
                    evidence_name(basis->evidence), basis->source);
            head = "";
        }
    fputs(*head == '\0' ? "\n" : "", out);
}

static void write_range(FILE *out, const struct param *p)
{
    for (size_t i = 0; p->choices != NULL && p->choices[i] != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "", p->choices[i]);
    if (p->min != NULL || p->max != NULL)
        fprintf(out, "%s to %s", p->min != NULL ? p->min : "0", p->max != NULL ? p->max : "any");
    if (p->can_auto)
        fputs(", or auto", out);
}

static void write_params(FILE *out, const struct cc_ops *ops)
{
    if (ops->n_params == 0)
        return;
    fputs("| parameter | unit | default | range | meaning | evidence | source of the default |\n"
          "|---|---|---|---|---|---|---|\n",
          out);
    struct param_walk walk = params_walk(ops->params, ops->n_params);
    for (const struct param *p; (p = params_next(&walk)) != NULL;) {
        fprintf(out, "| `%s` | %s | %s | ", p->name, param_type_name(p->type), p->def);
        write_range(out, p);
        fprintf(out, " | %s | %s | %s |\n", p->help, evidence_name(p->evidence), p->source);
    }
    fputs("\n", out);
}

static char *page(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs("# Congestion control policies\n\n"
          "Generated from `cc/` (tests/generated/test_policies.c): what `collwire list cc NAME` "
          "prints, and how each\n"
          "policy differs from its paper. Scenarios choose one with `\"cc\": {\"kind\": "
          "\"...\", \"preset\": \"...\"}`;\n"
          "values beside them go over the preset's.\n"
          "\nEvery value has its evidence. *Documented*: the source prints it,"
          " at the scale at which it is used.\n"
          "*Measured*: runs gave it. *Estimated*: it was derived or chosen; the source says "
          "from what. A preset's own values come\nbefore those of the table of defaults.\n",
          out);
    struct cc_catalogue catalogue = cc_catalogue_builtin();
    for (size_t i = 0; i < catalogue.n; i++) {
        const struct cc_ops *ops = catalogue.policies[i];
        fprintf(out, "\n## %s\n\n", ops->name);
        write_comment(out, ops->name);
        fputs("\n", out);
        write_needs(out, ops->needs);
        write_transports(out, ops);
        write_presets(out, ops);
        write_bases(out, ops);
        write_params(out, ops);
    }
    fclose(out);
    return text;
}

static void test_page_is_current(void **state)
{
    (void)state;
    char *now = page();
    assert_generated("docs/policies.md", now);
    free(now);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_page_is_current)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
