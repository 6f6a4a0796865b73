// SPDX-License-Identifier: MIT
// Both files are written, or none.
#include "cli/import/recording_command.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "cli/import/import_program.h"
#include "cli/results/output.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "config/draft.h"
#include "engine/base/text.h"
#include "engine/file_set.h"

// Load the scenario with its files, as `validate` does. NULL with errors.
struct collwire_scenario *import_check(const struct options *o, const char *text,
                                       const struct collwire_setting *settings, size_t n,
                                       struct err *err)
{
    const char *slash = o->file ? strrchr(o->file, '/') : NULL;
    char *folder = slash ? text_format("%.*s", (int)(slash - o->file), o->file) : NULL;
    struct collwire_scenario *scenario = collwire_scenario_parse(
        text, folder ? folder : ".", settings, n, o->policies, messages_of(err));
    free(folder);
    return scenario;
}

static bool scenario_check(const struct options *o, const char *text,
                           const struct collwire_setting *settings, size_t n, struct err *err)
{
    struct collwire_scenario *scenario = import_check(o, text, settings, n, err);
    bool good = scenario != NULL;
    collwire_scenario_free(scenario);
    return good;
}

// "job.json" -> "job.nodes.jsonl". To be freed.
static char *program_name(const char *file)
{
    size_t n = strlen(file);
    if (n > 5 && strcmp(file + n - 5, ".json") == 0)
        n -= 5;
    return text_format("%.*s.nodes.jsonl", (int)n, file);
}

// True if the file can be replaced: it is a regular one, or there is none. Else an error.
static bool replace_check(const char *file, struct err *err)
{
    struct stat there;
    if (stat(file, &there) != 0 || S_ISREG(there.st_mode))
        return true;
    err_add(err, file, "cannot be written: it is no regular file");
    return false;
}

// A new file beside `file`, of a unique name with this end; NULL with an error. To be freed.
static char *draft_make(const char *file, const char *end, struct err *err)
{
    char *path = text_format("%s-XXXXXX%s", file, end);
    int fd = mkstemps(path, (int)strlen(end));
    if (fd >= 0) {
        close(fd);
        return path;
    }
    err_add(err, file, "cannot be written: %s", strerror(errno));
    free(path);
    return NULL;
}

// Both drafts get their names, or none.
static bool drafts_keep(char *const *drafts, char *const *files, struct err *err)
{
    size_t at;
    signals_hold(true);
    bool good = file_set_name(drafts, files, 2, &at) == 0;
    if (!good)
        err_add(err, files[at], "cannot be written: %s", strerror(errno));
    signals_hold(false);
    return good;
}

static void draft_drop(char *draft)
{
    if (draft != NULL)
        remove(draft);
    free(draft);
}

// The scenario without the library of its job, to be freed; NULL if it has none.
static char *library_drop(const char *scenario)
{
    json_t *root = json_loads(scenario, 0, NULL);
    bool has = json_object_del(json_object_get(root, "workload"), "library") == 0;
    char *text = has ? json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    json_decref(root);
    return text;
}

// Check the scenario. Where the library that the files name cannot run the job, it is left out.
static bool recording_check(const struct options *o, struct profile_result *result,
                            const struct collwire_setting *in_draft, struct err *err)
{
    struct err refused = {0}, without = {0};
    bool good = scenario_check(o, result->scenario, in_draft, 1, &refused);
    char *plain = good ? NULL : library_drop(result->scenario);
    if (plain != NULL && scenario_check(o, plain, in_draft, 1, &without)) {
        char *summary = text_format("%s  left out: the library, which cannot run the job: %s\n",
                                    result->summary, refused.items[0].text);
        free(result->summary);
        free(result->scenario);
        result->summary = summary;
        result->scenario = plain;
        plain = NULL;
        good = true;
    } else { // errors, or warnings alone
        err_add_all(err, NULL, &refused);
    }
    free(plain);
    err_free(&refused);
    err_free(&without);
    return good;
}

// Write both files. What cannot be simulated, or one that cannot be written, leaves no new file,
// and old ones as they are.
static int recording_files(const struct options *o, struct profile_result *result, char *program)
{
    struct err err = {0};
    bool good = replace_check(o->file, &err);
    good = replace_check(program, &err) && good;
    char *nodes = good ? draft_make(program, ".jsonl", &err) : NULL;
    char *scenario = nodes != NULL ? draft_make(o->file, ".json", &err) : NULL;
    int code = EXIT_BAD_USE;
    if (scenario != NULL) {
        char *drafts[] = {nodes, scenario}, *files[] = {program, (char *)(uintptr_t)o->file};
        struct collwire_setting in_draft = {"workload.file", file_base(nodes)};
        code = output_write(nodes, recording_write, result->recording);
        if (code == EXIT_DONE && !recording_check(o, result, &in_draft, &err))
            code = EXIT_BAD_USE;
        if (code == EXIT_DONE)
            code = text_write(scenario, result->scenario);
        if (code == EXIT_DONE && !drafts_keep(drafts, files, &err))
            code = EXIT_BAD_USE;
    }
    draft_drop(nodes);
    draft_drop(scenario);
    errors_print(&err);
    return code;
}

// Lines that may have names from files, whose control characters are escaped.
static void lines_print(char *text)
{
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        path_print(stdout, "%s\n", line);
}

int recording_import(const struct options *o, const struct recording_files *given)
{
    struct err err = {0};
    struct profile_result result;
    char *program = program_name(o->file);
    struct profile_import from = {.format = given->format,
                                  .folder = given->folder,
                                  .files = given->files,
                                  .n_files = given->n_files,
                                  .output = o->file,
                                  .network = given->network ? given->network : o->network,
                                  .program = file_base(program),
                                  .ranks = (uint32_t)o->ranks,
                                  .replicate = o->replicate,
                                  .strict = o->strict};
    int code = profile_read(&from, &result, &err) == 0 ? EXIT_DONE : EXIT_BAD_USE;
    errors_print(&err);
    if (code == EXIT_DONE)
        code = recording_files(o, &result, program);
    if (code == EXIT_DONE && !o->quiet) {
        path_print(stdout, "scenario: %s\n", o->file);
        path_print(stdout, "program: %s\n", program);
        for (size_t i = 0; given->notes != NULL && i < given->notes->n; i++)
            path_print(stdout, "  %s\n", given->notes->items[i].text);
        lines_print(result.summary);
    }
    profile_free(&result);
    free(program);
    return code;
}
