// SPDX-License-Identifier: MIT
// collwire plot: one chart of a directory of results as a file. CSV is written from the document of
// the page; SVG and PDF are what the page itself would save (cli/drawing).
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/drawing/drawing.h"
#include "cli/results/output.h"
#include "cli/results/page_template.h"
#include "cli/runs/report.h"
#include "cli/runs/runs.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/text.h"

/* ---- the list ---- */

static void print_names(FILE *out, const char *before, json_t *names)
{
    const char *name, *comma = "";
    json_t *value;
    struct text text;
    FILE *line = text_open(&text);
    fputs(before, line);
    json_object_foreach(names, name, value)
    {
        fprintf(line, "%s%s", comma, name);
        comma = ", ";
    }
    char *all = text_close(line, &text);
    terminal_wrap(out, all, 0, 2, terminal_width(out));
    free(all);
}

static void print_list(FILE *out, struct page *page)
{
    json_t *charts = page_charts(page), *runs = page_run_names(page),
           *metrics = page_metric_names(page), *dimensions = page_dimension_names(page), *chart;
    size_t i;
    json_array_foreach(charts, i, chart)
    {
        fprintf(out, "%-18s  %s\n", json_string_value(json_array_get(chart, 0)),
                json_string_value(json_array_get(chart, 1)));
    }
    if (json_object_size(runs) > 1)
        print_names(out, "NAME@RUN draws one of: ", runs);
    if (json_object_size(metrics) > 0)
        print_names(out, "NAME=METRIC draws one of: ", metrics);
    if (json_object_size(dimensions) > 0)
        print_names(out, "--dim D draws messages of one of: ", dimensions);
    json_decref(dimensions);
    json_decref(metrics);
    json_decref(charts);
    json_decref(runs);
}

/* ---- pictures ---- */

struct bytes {
    char *start;
    size_t n;
};

static void put_text(FILE *out, const void *text) { fputs(text, out); }

static void put_bytes(FILE *out, const void *bytes_)
{
    const struct bytes *bytes = bytes_;
    fwrite(bytes->start, 1, bytes->n, out);
}

// Draw the chart. Returns the exit code; errors go to `err`.
static int draw(struct page *page, const struct options *o, bool pdf, struct bytes *picture,
                struct err *err)
{
    bool unknown = false;
    char *program = plot_program(err), *document = page_document(page, o->chart, o->dim),
         *svg = program ? drawing_svg(program, document, &unknown, err) : NULL;
    *picture = (struct bytes){svg, svg ? strlen(svg) : 0};
    if (svg && pdf) {
        picture->start = drawing_pdf(svg, &picture->n, err);
        free(svg);
    }
    free(document);
    free(program);
    return picture->start ? EXIT_DONE : unknown ? EXIT_BAD_USE : EXIT_NOT_COMPLETED;
}

static int write_picture(struct page *page, const struct options *o, bool pdf)
{
    struct err err = {0};
    struct bytes picture;
    int code = draw(page, o, pdf, &picture, &err);
    for (size_t i = 0; i < err.n_items; i++)
        fprintf(stderr, "collwire: plot: %s: %s\n", o->chart, err.items[i].text);
    err_free(&err);
    if (code == EXIT_DONE)
        code = output_write(o->file, put_bytes, &picture);
    free(picture.start);
    return code;
}

/* ---- the command ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

// Say that a chart has no messages of the wished dimension. Returns false if it is no chart.
static bool explain_dimension(struct page *page, const struct options *o)
{
    char *whole = o->dim ? page_chart_csv(page, o->chart, NULL) : NULL;
    bool is_chart = whole != NULL;
    free(whole);
    if (!is_chart)
        return false;
    json_t *names = page_dimension_names(page);
    fprintf(stderr, "collwire: plot: --dim: %s of %s has no messages of dimension \"%s\"\n",
            o->chart, o->args[0], o->dim);
    if (json_object_size(names) > 0)
        print_names(stderr, "charts of messages have: ", names);
    json_decref(names);
    return true;
}

static int write_chart(struct page *page, const struct options *o)
{
    char *csv = o->chart ? page_chart_csv(page, o->chart, o->dim) : NULL;
    int code = EXIT_BAD_USE;
    if (!o->chart) {
        fprintf(stderr, "collwire: plot needs --chart NAME; the charts of %s are\n", o->args[0]);
        print_list(stderr, page);
    } else if (!csv && explain_dimension(page, o)) {
        code = EXIT_BAD_USE;
    } else if (!csv) {
        fprintf(stderr, "collwire: plot: %s has no chart \"%s\"; its charts are\n", o->args[0],
                o->chart);
        print_list(stderr, page);
    } else if (!o->file || ends_with(o->file, ".csv"))
        code = output_write(o->file, put_text, csv);
    else if (ends_with(o->file, ".svg") || ends_with(o->file, ".pdf"))
        code = write_picture(page, o, ends_with(o->file, ".pdf"));
    else
        fprintf(stderr, "collwire: plot: %s does not end in .svg, .pdf or .csv\n", o->file);
    free(csv);
    return code;
}

static int command_plot(const struct options *o)
{
    struct err err = {0};
    if (o->n_args != 1) {
        fputs("collwire: plot takes one directory of results; see collwire plot --help\n", stderr);
        return EXIT_BAD_USE;
    }
    signals_phase("drawing");
    struct page *page = report_page(o->args[0], &err);
    bool good = page != NULL;
    errors_print(&err);
    int code = good ? EXIT_DONE : EXIT_BAD_USE;
    if (good && o->list)
        print_list(stdout, page);
    else if (good)
        code = write_chart(page, o);
    page_free(page);
    return code;
}

/* ---- its row ---- */

static const char plot_text[] =
    "Writes one chart of the page that report makes for DIR into a file: SVG or PDF as wide as a "
    "column of a paper (85 mm) and black on white, or its data as CSV. The ending of FILE says "
    "which; without -o the CSV is printed. PDF needs librsvg on the system.\n\n"
    "NAME=METRIC draws another metric, messages.time=tail the slow messages on a logarithmic axis, "
    "and NAME@RUN, in a comparison, another policy; --list shows all names.\n\n"
    "  collwire plot out/incast-compare --list\n"
    "  collwire plot out/incast-compare --chart messages.slowdown -o slowdown.svg\n"
    "  collwire plot out/rail-compare --chart messages.time --dim 1 -o time.svg\n"
    "  collwire plot out/incast-compare --chart queue@dcqcn -o queue.pdf\n"
    "  collwire plot out/ring-sweep --chart sweep.lines=busbw_bps -o busbw.csv";

const struct command plot_command = {
    .name = "plot",
    .help = "one chart of results as SVG, PDF or CSV",
    .args = "DIR",
    .text = plot_text,
    .run = command_plot,
    .completes = COMPLETE_FOLDERS,
};
