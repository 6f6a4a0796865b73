// SPDX-License-Identifier: MIT
// collwire plot: one chart of a directory of results as a file. CSV is written from the document of
// the page; SVG and PDF are what the page itself draws, in a headless browser.
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/folder.h"
#include "cli/results/output.h"
#include "cli/results/page_template.h"
#include "cli/runs/browser.h"
#include "cli/runs/report.h"
#include "cli/runs/runs.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
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
           *metrics = page_metric_names(page), *chart;
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
    json_decref(metrics);
    json_decref(charts);
    json_decref(runs);
}

/* ---- a folder for the browser ---- */

struct workplace {
    char *dir;
    int fd;
};

static int workplace_open(struct workplace *w)
{
    const char *temporary = getenv("TMPDIR");
    w->dir =
        text_format("%s/collwire-plot-XXXXXX", temporary && *temporary == '/' ? temporary : "/tmp");
    w->fd = mkdtemp(w->dir) ? open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (w->fd < 0)
        fprintf(stderr, "collwire: %s: %s\n", w->dir, strerror(errno));
    return w->fd < 0 ? -1 : 0;
}

static void workplace_close(struct workplace *w)
{
    char *slash = strrchr(w->dir, '/');
    if (w->fd >= 0) {
        close(w->fd);
        *slash = '\0';
        int parent = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        folder_wipe(parent, slash + 1);
        close(parent);
    }
    free(w->dir);
}

/* ---- SVG ---- */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The text between `mark` and PAGE_PLOT_END without its percent escapes; NULL = there is none.
static char *marked(const char *html, const char *mark)
{
    // the page's program has the marks too, before what it wrote
    const char *at = NULL, *end = NULL;
    for (const char *next = html; (next = strstr(next, mark)) != NULL; next++)
        at = next + strlen(mark);
    end = at ? strstr(at, PAGE_PLOT_END) : NULL;
    if (!end)
        return NULL;
    char *text = memory_zeroed((size_t)(end - at) + 1, 1), *to = text;
    for (; at < end; at++) {
        bool escape = *at == '%' && end - at > 2 && hex(at[1]) >= 0 && hex(at[2]) >= 0;
        if (!escape) {
            *to++ = *at;
            continue;
        }
        *to++ = (char)(hex(at[1]) * 16 + hex(at[2]));
        at += 2;
    }
    return text;
}

// Draw the chart; its SVG is to be freed. NULL after a message, with *code.
static char *svg_of(struct page *page, const char *chart, const char *browser,
                    const struct workplace *w, int *code)
{
    struct err err = {0};
    char *path = NULL, *template = page_template(&path, &err), *html = NULL, *svg = NULL;
    page_draw(page, chart);
    if (template)
        html = page_html(page, template, path, &err);
    errors_print(&err);
    if (html && folder_write(w->fd, "page.html", html, strlen(html)) == 0 &&
        browser_dump(browser, w->dir, "page.html", "dump.html") == 0) {
        char *dump = folder_read(w->fd, "dump.html");
        svg = dump ? marked(dump, PAGE_PLOT) : NULL;
        char *problem = dump && !svg ? marked(dump, PAGE_PROBLEM) : NULL;
        if (problem)
            *code = EXIT_BAD_USE;
        if (!svg)
            fprintf(stderr, "collwire: plot: %s: %s\n", chart,
                    problem ? problem : "the browser drew nothing");
        free(problem);
        free(dump);
    }
    free(html);
    free(template);
    free(path);
    return svg;
}

/* ---- files ---- */

static void put_text(FILE *out, const void *text) { fputs(text, out); }

static void put_file(FILE *out, const void *path)
{
    char part[1 << 14];
    size_t n;
    const char *why;
    FILE *in = regular_file_stream(path, &why);
    while (in && (n = fread(part, 1, sizeof part, in)) > 0)
        fwrite(part, 1, n, out);
    if (in)
        fclose(in);
}

// Print the picture on a page of its own size.
static int write_pdf(const char *svg, const char *browser, const struct workplace *w,
                     const char *file)
{
    double width = 85, height = 100;
    const char *size = strstr(svg, "width=\"");
    if (size)
        sscanf(size, "width=\"%lfmm\" height=\"%lfmm\"", &width, &height);
    char *html = text_format("<!doctype html><meta charset=\"utf-8\"><style>@page{size:%.2fmm "
                             "%.2fmm;margin:0}html,body{margin:0}svg{display:block}</style>%s",
                             width, height + 0.3, svg),
         *pdf = text_format("%s/chart.pdf", w->dir);
    int code = EXIT_NOT_COMPLETED;
    if (folder_write(w->fd, "print.html", html, strlen(html)) == 0 &&
        browser_print(browser, w->dir, "print.html", "chart.pdf") == 0) {
        if (access(pdf, R_OK) == 0)
            code = output_write(file, put_file, pdf);
        else
            fprintf(stderr, "collwire: plot: %s wrote no PDF\n", browser);
    }
    free(pdf);
    free(html);
    return code;
}

static int write_picture(struct page *page, const char *chart, const char *file, bool pdf)
{
    char *browser = browser_find();
    struct workplace w;
    int code = EXIT_NOT_COMPLETED;
    if (!browser) {
        fprintf(stderr,
                "collwire: plot: SVG and PDF need a browser, none of %s is in PATH: install "
                "chromium, or name one in COLLWIRE_BROWSER. -o FILE.csv needs none, nor do the "
                "buttons below the charts of report.html\n",
                browser_names);
        return code;
    }
    if (workplace_open(&w) == 0) {
        char *svg = svg_of(page, chart, browser, &w, &code);
        if (svg && pdf)
            code = write_pdf(svg, browser, &w, file);
        else if (svg)
            code = output_write(file, put_text, svg);
        free(svg);
    }
    workplace_close(&w);
    free(browser);
    return code;
}

/* ---- the command ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static int write_chart(struct page *page, const struct options *o)
{
    char *csv = o->chart ? page_chart_csv(page, o->chart) : NULL;
    int code = EXIT_BAD_USE;
    if (!o->chart) {
        fprintf(stderr, "collwire: plot needs --chart NAME; the charts of %s are\n", o->args[0]);
        print_list(stderr, page);
    } else if (!csv) {
        fprintf(stderr, "collwire: plot: %s has no chart \"%s\"; its charts are\n", o->args[0],
                o->chart);
        print_list(stderr, page);
    } else if (!o->file || ends_with(o->file, ".csv"))
        code = output_write(o->file, put_text, csv);
    else if (ends_with(o->file, ".svg") || ends_with(o->file, ".pdf"))
        code = write_picture(page, o->chart, o->file, ends_with(o->file, ".pdf"));
    else
        fprintf(stderr, "collwire: plot: %s does not end in .svg, .pdf or .csv\n", o->file);
    free(csv);
    return code;
}

int command_plot(const struct options *o)
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
