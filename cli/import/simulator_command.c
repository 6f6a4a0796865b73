// SPDX-License-Identifier: MIT
// A scenario is written if the program can run it.
#include "cli/import/simulator_command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/file_job.h"
#include "cli/import/recording_command.h"
#include "cli/results/output.h"
#include "cli/terminal/terminal.h"
#include "config/draft.h"
#include "engine/base/text.h"

// Write the scenario (NULL = there are errors), and print the summary and the notes.
static int finish(const struct options *o, const char *text, const char *summary,
                  const struct notes *notes, struct err *err)
{
    bool good = text != NULL && (!o->strict || notes_strict(notes, err));
    errors_print(err);
    int code = good ? text_write(o->file, text) : EXIT_BAD_USE;
    FILE *out = o->file != NULL ? stdout : stderr; // the scenario itself may be on stdout
    if (code != EXIT_DONE || o->quiet)
        return code;
    if (o->file != NULL)
        path_print(out, "scenario: %s\n", o->file);
    if (summary != NULL)
        terminal_wrap(out, summary, 0, 2, terminal_width(stdout));
    for (size_t i = 0; i < notes->n; i++) {
        char *line =
            text_format("  %s%s", notes->items[i].assumed ? "assumed: " : "", notes->items[i].text);
        path_print(out, "%s\n", line);
        free(line);
    }
    return code;
}

int astra_import_files(const struct options *o, const struct astra_import *from,
                       struct notes *notes)
{
    struct err err = {0};
    char *text = astra_import(from, &err);
    int code = finish(o, text, NULL, notes, &err);
    free(text);
    return code;
}

int chakra_import_files(const struct options *o, const struct chakra_import *from,
                        struct notes *notes)
{
    struct err err = {0};
    char *summary = NULL, *text = chakra_import(from, &err);
    struct collwire_scenario *scenario = text != NULL ? import_check(o, text, NULL, 0, &err) : NULL;
    if (scenario != NULL)
        summary = chakra_import_summary(scenario_of(scenario));
    int code = finish(o, scenario != NULL ? text : NULL, summary, notes, &err);
    collwire_scenario_free(scenario);
    free(summary);
    free(text);
    return code;
}

static int job_import(const struct options *o, const struct file_job *job, struct notes *notes)
{
    struct err err = {0};
    char *summary = NULL, *text = file_job_scenario(job, notes, &err);
    struct collwire_scenario *scenario = text != NULL ? import_check(o, text, NULL, 0, &err) : NULL;
    if (scenario != NULL) {
        char *is = file_job_describe(job, scenario_of(scenario));
        summary = text_format("%s: %s", file_base(job->file), is);
        free(is);
    }
    int code = finish(o, scenario != NULL ? text : NULL, summary, notes, &err);
    collwire_scenario_free(scenario);
    free(summary);
    free(text);
    return code;
}

int file_job_import(const struct options *o, const struct file_kind *kind, const char *file,
                    const char *network, struct notes *notes)
{
    struct file_job job = {.kind = kind,
                           .file = file,
                           .output = o->file,
                           .network = network,
                           .ranks = (uint32_t)o->ranks};
    return job_import(o, &job, notes);
}

int traces_import(const struct options *o, const struct chakra_import *from, uint32_t ranks,
                  struct notes *notes)
{
    struct file_job job = {.kind = kind_named("chakra"),
                           .file = from->prefix,
                           .groups = from->groups,
                           .ignores_missing = from->ignores_missing,
                           .output = o->file,
                           .network = from->network,
                           .ranks = ranks};
    return job_import(o, &job, notes);
}
