// SPDX-License-Identifier: MIT
// What a run writes and when it ends: `capture`, `report`, `limits`.
#include <string.h>

#include "config/read.h"
#include "engine/memory.h"

// ---- capture ----

static bool path_goes_up(const char *file)
{
    for (const char *part = file; *part != '\0';) {
        size_t length = strcspn(part, "/");
        if (length == 2 && strncmp(part, "..", 2) == 0)
            return true;
        part += length + (part[length] == '/');
    }
    return false;
}

static bool file_is_ours(const char *file)
{
    static const char *const ours[] = {
        "metrics.json", "run.json",       "qpmap.csv",    "series.csv",  "report.html",
        "sweep.json",   "sweep.csv",      "compare.json", "compare.csv", "EndToEnd.csv",
        "detailed.csv", "dimensions.csv", "timeline.json"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(file, ours[i]) == 0)
            return true;
    return false;
}

static void check_capture_file(struct reader *r, const struct place *place,
                               const struct capture_spec *captures, size_t i)
{
    const char *file = captures[i].file;
    size_t length = strlen(file);
    if (length == 0 || file[length - 1] == '/')
        place_error(r->err, place, "must be the name of a file");
    else if (file[0] == '/')
        place_error(r->err, place, "\"%s\" is an absolute path; captures lie in the output folder",
                    file);
    else if (path_goes_up(file))
        place_error(r->err, place, "\"%s\" leads out of the output folder", file);
    else if (file_is_ours(file))
        place_error(r->err, place, "\"%s\" is the name of a result file", file);
    for (size_t j = 0; j < i; j++)
        if (captures[j].file != NULL && strcmp(captures[j].file, file) == 0)
            place_error(r->err, place, "capture[%zu] has the same file", j);
}

void read_captures(struct reader *r, const struct place *place)
{
    struct spec *spec = &r->scenario->spec;
    if (!read_list(r, place))
        return;
    spec->n_captures = json_array_size(place->json);
    spec->captures = memory_zeroed(spec->n_captures, sizeof *spec->captures);
    for (size_t i = 0; i < spec->n_captures; i++) {
        struct keys keys = {0};
        struct place item = place_item(place, i), file = place_key(&item, "file");
        if (!read_object(r, &item))
            continue;
        params_default(capture_params, n_capture_params, &spec->captures[i]);
        read_params(r, &item, &keys, capture_params, n_capture_params, &spec->captures[i]);
        keys_check(r, &item, &keys);
        if (spec->captures[i].file != NULL)
            check_capture_file(r, &file, spec->captures, i);
    }
}

// ---- report ----

static void read_sample_at(struct reader *r, const struct place *place, struct report_spec *report)
{
    if (!read_list(r, place))
        return;
    report->n_sample_at = json_array_size(place->json);
    report->sample_at = memory_zeroed(report->n_sample_at, sizeof *report->sample_at);
    for (size_t i = 0; i < report->n_sample_at; i++) {
        struct place item = place_item(place, i);
        report->sample_at[i] = json_string_value(item.json);
        if (report->sample_at[i] == NULL)
            place_error(r->err, &item, "must be a place like \"leaf*->*\", not %s",
                        json_noun(item.json));
    }
}

void read_report(struct reader *r, const struct place *place)
{
    struct keys keys = {0};
    struct report_spec *report = &r->scenario->spec.report;
    params_default(report_params, n_report_params, report);
    if (!read_object(r, place))
        return;
    struct place sample_at = place_key(place, "sample_at");
    read_params(r, place, &keys, report_params, n_report_params, report);
    read_sample_at(r, &sample_at, report);
    keys_add(&keys, "sample_at");
    keys_check(r, place, &keys);
}

// ---- limits ----

void read_limits(struct reader *r, const struct place *place)
{
    struct keys keys = {0};
    struct limits_params *limits = &r->scenario->limits;
    params_default(limits_params, n_limits_params, limits);
    if (read_object(r, place)) {
        read_params(r, place, &keys, limits_params, n_limits_params, limits);
        keys_check(r, place, &keys);
    }
    r->scenario->spec.limits = (struct limits_spec){
        .sim_time_ps = limits->sim_time_ps,
        .stall_ps = limits->stall_ps,
        .wall_s = limits->wall_ps == PARAM_AUTO_TIME ? 0 : (double)limits->wall_ps / PS_PER_S,
        .events = limits->events == PARAM_AUTO_BYTES ? 0 : limits->events,
    };
}
