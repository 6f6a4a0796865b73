// SPDX-License-Identifier: MIT
// `capture`: writes packets of places to files.
#include <stdlib.h>
#include <string.h>

#include "config/object/output_name.h"
#include "config/object/scenario_parts.h"
#include "engine/base/memory.h"
#include "engine/text/object.h"
#include "engine/text/read.h"

static const char *const formats[] = {"auto", "pcap", "pcapng", NULL};
static const char *const stamps[] = {"first_bit", "last_bit", NULL};

#define FIELD(name) offsetof(struct capture_spec, name)

static const struct param capture_params[] = {
    PARAM_ROW("at", TEXT, FIELD(at),
              .help = "places, with commas between them: rank3, rank3:dim1, leaf0, dim0.sw5, "
                      "leaf0->spine2, rank*; a link between two of them is captured where "
                      "packets leave"),
    PARAM_ROW("file", TEXT, FIELD(file),
              .help = "in the output folder: NAME.pcapng or NAME.pcap, either with .gz; - = "
                      "stdout"),
    PARAM_ROW("format", ENUM, FIELD(format), .def = "auto", .choices = formats,
              .help = "auto = by the file's name; on stdout pcapng if there are several places"),
    PARAM_ROW("filter", TEXT, FIELD(filter), .def = "", .help = "pcap filter expression",
              .source = "pcap-filter(7)"),
    PARAM_ROW("snaplen", BYTES, FIELD(snaplen_bytes), .def = "65535B", .min = "54B",
              .max = "65535B", .help = "bytes kept of each frame"),
    PARAM_ROW("stamp", ENUM, FIELD(stamp), .def = "last_bit", .choices = stamps,
              .help = "which bit on the wire the time is of"),
    PARAM_ROW("from", TIME, FIELD(from_ps), .def = "0ns", .max = "100000s",
              .help = "packets before are left out"),
    PARAM_ROW("to", TIME, FIELD(to_ps), .def = "auto", .max = "100000s", .can_auto = true,
              .help = "packets after are left out; auto = none"),
    PARAM_ROW("trigger", TEXT, FIELD(trigger), .def = "",
              .help = "where the capture starts or stops: \"start at\" or \"stop at\", then "
                      "\"drop\", \"retransmission\", \"pause > 20us\" (seen when it is renewed "
                      "or ends) or \"queue > 100KB\" at its places"),
    PARAM_ROW(
        "ring", BYTES, FIELD(ring_bytes), .def = "auto", .min = "128KB", .max = "64GB",
        .can_auto = true,
        .help =
            "keep only the last packets, of this size in the file, before the trigger starts "
            "the capture, or else before its end; auto = 64 MB before a start, else all packets"),
};
static const size_t n_capture_params = sizeof capture_params / sizeof *capture_params;

// ---- names of files ----

// `names` maps each file name checked so far to the capture's index.
static void check_capture_name(struct reader *r, const struct place *place, const char *file,
                               const char *name, json_t *names, size_t i)
{
    const json_t *same = json_object_get(names, name);
    size_t length = strlen(file);
    if (name[0] == '\0' || file[length - 1] == '/' || (strcmp(name, "-") == 0 && length > 1))
        place_error(r->err, place, "must be the name of a file");
    else if (file[0] == '/')
        place_error(r->err, place,
                    "\"%s\" is an absolute path; captures are written inside the output directory",
                    file);
    else if (output_name_escapes(file))
        place_error(r->err, place, "\"%s\" must stay inside the output directory", file);
    else if (output_name_reserved(name))
        place_error(r->err, place, "\"%s\" is the name of a result file", file);
    else if (same != NULL)
        place_error(r->err, place, "capture[%lld] has the same file",
                    (long long)json_integer_value(same));
    else
        json_object_set_new(names, name, json_integer((json_int_t)i));
}

// The file name of a capture must not be a folder in the file name of another.
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

// Replace the file name of a capture by its normalized form.
static void check_file(struct reader *r, const struct place *place, struct capture_spec *capture,
                       json_t *names, size_t i)
{
    const char *file = json_string_value(place->json);
    if (file == NULL)
        return; // the table has reported it
    char *name = output_name(file);
    check_capture_name(r, place, file, name, names, i);
    if (file[0] != '/') {
        json_string_set(place->json, name);
        capture->file = json_string_value(place->json);
    }
    free(name);
}

static void capture_finish(struct reader *r, const struct place *place, void *value)
{
    (void)value;
    const struct spec *spec = &r->scenario->spec;
    json_t *names = json_object();
    for (size_t i = 0; i < spec->n_captures; i++) {
        struct place item = place_item(place, i), file = place_key(&item, "file");
        check_file(r, &file, &spec->captures[i], names, i);
        if (spec->captures[i].from_ps > spec->captures[i].to_ps)
            place_error(r->err, &item, "`from` is later than `to`");
    }
    check_capture_folders(r, place, names);
    json_decref(names);
}

extern const struct object capture_object;
const struct object capture_object = {
    .key = "capture",
    .doc = "packets of places, written to pcap files",
    .stage = STAGE_REST,
    .packets_only = true,
    .params = capture_params,
    .n_params = &n_capture_params,
    .item_bytes = sizeof(struct capture_spec),
    .offset = offsetof(struct scenario, spec.captures),
    .count_at = offsetof(struct scenario, spec.n_captures),
    .finish = capture_finish,
};
