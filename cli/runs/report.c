// SPDX-License-Identifier: MIT
// collwire report: writes one page of charts and tables from a directory of results.
#include "cli/runs/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/results/page_template.h"
#include "cli/results/result_set.h"
#include "cli/runs/runs.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "report/page.h"

// Write the page into the set, which is open. Returns the exit code.
static int write_page(struct result_set *set, struct page *page, struct err *err)
{
    char *path = NULL, *template = page_template(&path, err);
    char *html = template ? page_html(page, template, path, err) : NULL;
    int status = html ? result_set_write(set, "report.html", html, err) : -1;
    if (status == 0)
        status = result_set_extend(set, NULL, err);
    free(html);
    free(template);
    free(path);
    return status == 0 ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

int report_write(const char *dir, struct err *err)
{
    struct stat about;
    if (stat(dir, &about) != 0) {
        err_add(err, dir, "cannot be read: %s", strerror(errno));
        return EXIT_BAD_USE;
    }
    struct result_set *set = result_set_open(dir, err);
    if (!set)
        return EXIT_BAD_USE;
    int code = EXIT_BAD_USE;
    struct page *page = report_page(dir, err);
    if (page && result_set_claim(set, "report.html", err) == 0)
        code = write_page(set, page, err);
    page_free(page);
    result_set_close(set);
    return code;
}

static void print_place(const char *before, const char *dir)
{
    fputs(before, stdout);
    text_print(stdout, dir);
    puts("/report.html");
}

int report_after(const struct options *o, const char *dir, int code)
{
    struct err err = {0};
    char *path = NULL, *template = page_template(&path, &err);
    bool charts = template != NULL, table = o->format == FORMAT_TABLE && !o->quiet;
    free(template);
    free(path);
    if (!charts) {
        if (table)
            errors_print(&err);
        err_free(&err);
        return code;
    }
    signals_phase("writing the report");
    int made = report_write(dir, &err);
    if (made == EXIT_DONE && table)
        print_place("report: ", dir);
    if (made != EXIT_BAD_USE ||
        code == EXIT_DONE) // else the results could not be written, as reported
        errors_print(&err);
    err_free(&err);
    return made != EXIT_DONE && code == EXIT_DONE ? EXIT_NOT_COMPLETED : code;
}

static int command_report(const struct options *o)
{
    struct err err = {0};
    if (o->n_args != 1) {
        fprintf(stderr,
                "collwire: report takes one directory of results; see collwire report --help\n");
        return EXIT_BAD_USE;
    }
    signals_phase("writing the report");
    int code = report_write(o->args[0], &err);
    errors_print(&err);
    if (code == EXIT_DONE && !o->quiet)
        print_place("", o->args[0]);
    return code;
}

/* ---- its row ---- */

static const char report_text[] =
    "Writes DIR/report.html for the results of run, compare, sweep or diagnose: one file with "
    "charts and tables that opens in any browser without a network. Results that are made anew "
    "remove the old page. \n\n"
    "  collwire compare scenarios/incast.json --cc none,dcqcn --out out/incast\n"
    "  collwire report out/incast";

const struct command report_command = {
    .name = "report",
    .help = "results as a page of charts and tables: DIR/report.html",
    .args = "DIR",
    .text = report_text,
    .run = command_report,
    .completes = COMPLETE_FOLDERS,
};
