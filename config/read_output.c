// SPDX-License-Identifier: MIT
// What a run writes and when it ends: `capture`, `report`, `limits`.
#include <stdlib.h>
#include <string.h>

#include "config/output_name.h"
#include "config/read.h"
#include "engine/memory.h"

// ---- capture ----

// `names` has every file name so far as a key, and the capture's index.
static void check_capture_name(struct reader *r, const struct place *place, const char *file,
                               const char *name, json_t *names, size_t i)
{
    const json_t *same = json_object_get(names, name);
    size_t length = strlen(file);
    if (name[0] == '\0' || file[length - 1] == '/' || (strcmp(name, "-") == 0 && length > 1))
        place_error(r->err, place, "must be the name of a file");
    else if (file[0] == '/')
        place_error(r->err, place, "\"%s\" is an absolute path; captures lie in the output folder",
                    file);
    else if (output_name_escapes(file))
        place_error(r->err, place, "\"%s\" leads out of the output folder", file);
    else if (output_name_reserved(name))
        place_error(r->err, place, "\"%s\" is the name of a result file", file);
    else if (same != NULL)
        place_error(r->err, place, "capture[%lld] has the same file",
                    (long long)json_integer_value(same));
    else
        json_object_set_new(names, name, json_integer((json_int_t)i));
}

// A capture's file must not be a folder of another's.
static void check_capture_folders(struct reader *r, const struct place *list, const json_t *names)
{
    for (size_t i = 0; i < json_array_size(list->json); i++) {
        struct place item = place_item(list, i), file = place_key(&item, "file");
        const char *name = json_string_value(file.json);
        char *folder = name != NULL ? memory_text(name) : NULL, *slash;
        while (folder != NULL && (slash = strrchr(folder, '/')) != NULL) {
            *slash = '\0';
            if (json_object_get(names, folder) != NULL || output_name_reserved(folder))
                place_error(r->err, &file, "\"%s\" is a file, and cannot be a folder", folder);
        }
        free(folder);
    }
}

// From here on a capture's file has its clean name.
static void read_capture_file(struct reader *r, const struct place *place, json_t *names, size_t i)
{
    const char *file = json_string_value(place->json);
    if (file == NULL)
        return; // the table says so
    char *name = output_name(file);
    check_capture_name(r, place, file, name, names, i);
    if (file[0] != '/')
        json_string_set(place->json, name);
    free(name);
}

void read_captures(struct reader *r, const struct place *place)
{
    struct spec *spec = &r->scenario->spec;
    if (!read_list(r, place))
        return;
    spec->n_captures = json_array_size(place->json);
    spec->captures = memory_zeroed(spec->n_captures, sizeof *spec->captures);
    json_t *names = json_object();
    for (size_t i = 0; i < spec->n_captures; i++) {
        struct keys keys = {0};
        struct place item = place_item(place, i), file = place_key(&item, "file");
        if (!read_object(r, &item))
            continue;
        read_capture_file(r, &file, names, i);
        params_default(capture_params, n_capture_params, &spec->captures[i]);
        read_params(r, &item, &keys, capture_params, n_capture_params, &spec->captures[i]);
        keys_check(r, &item, &keys);
    }
    check_capture_folders(r, place, names);
    json_decref(names);
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
        .events = limits->events == PARAM_AUTO ? 0 : limits->events,
        .memory_bytes = limits->memory_bytes == PARAM_AUTO ? 0 : limits->memory_bytes,
    };
}
