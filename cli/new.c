// SPDX-License-Identifier: MIT
// collwire new: scenarios to start from, which are installed beside the program.
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/results/output.h"
#include "cli/results/share_folder.h"
#include "cli/terminal/terminal.h"
#include "engine/base/err.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"

#define ENDING ".json"
#define DATA_ENDING ".csv"
#define NAME_COLUMN 20

struct starts {
    char *folder;
    char **names; // NULL-terminated, ascending, without the ending
    size_t n;
};

static int is_scenario(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && end && strcmp(end, ENDING) == 0;
}

// Returns 0, or -1 after a message.
static int starts_find(struct starts *s)
{
    struct dirent **entries;
    *s = (struct starts){.folder = share_find("scenarios/start")};
    int n = s->folder ? scandir(s->folder, &entries, is_scenario, alphasort) : -1;
    if (n < 0) {
        fputs("collwire: new: the scenarios to start from are not beside this program; `make "
              "install` puts them there\n",
              stderr);
        return -1;
    }
    s->n = (size_t)n;
    s->names = memory_zeroed(s->n + 1, sizeof *s->names);
    for (size_t i = 0; i < s->n; i++) {
        size_t length = strlen(entries[i]->d_name) - strlen(ENDING);
        s->names[i] = text_format("%.*s", (int)length, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

static void starts_free(struct starts *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->names[i]);
    free(s->names);
    free(s->folder);
}

static void starts_print(const struct starts *s)
{
    size_t width = terminal_width(stdout);
    for (size_t i = 0; i < s->n; i++) {
        char *path = text_format("%s/%s" ENDING, s->folder, s->names[i]);
        const char *why;
        FILE *in = regular_file_stream(path, &why);
        json_t *json = in ? json_loadf(in, 0, NULL) : NULL;
        const char *text = json_string_value(json_object_get(json, "description"));
        terminal_entry(stdout, s->names[i], text ? text : "", NAME_COLUMN, width);
        if (in)
            fclose(in);
        json_decref(json);
        free(path);
    }
    puts("\ncollwire new NAME -o job.json writes one of them; collwire list has all keys.");
}

// Copy the file as it is laid out, without the line that names the schema by its own place.
static void start_put(FILE *out, const void *ctx)
{
    FILE *in = (FILE *)(uintptr_t)ctx;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, in) > 0)
        if (!strstr(line, "\"$schema\""))
            fputs(line, out);
    free(line);
}

static int file_copy(const char *path, const char *file)
{
    const char *why;
    FILE *in = regular_file_stream(path, &why);
    int code = in != NULL ? output_write(file, start_put, in) : EXIT_BAD_USE;
    if (in == NULL)
        fprintf(stderr, "collwire: %s cannot be read: %s\n", path, why);
    else
        fclose(in);
    return code;
}

// Data that belong to a start are written beside FILE, which has their name: job.json, job.csv.
static int data_write(const struct starts *s, const char *name, const char *file)
{
    char *path = text_format("%s/%s" DATA_ENDING, s->folder, name);
    int code = EXIT_DONE;
    if (file != NULL && access(path, R_OK) == 0) {
        size_t n = strlen(file), end = strlen(ENDING);
        bool ends = n > end && strcmp(file + n - end, ENDING) == 0;
        char *beside = text_format("%.*s" DATA_ENDING, (int)(ends ? n - end : n), file);
        code = file_copy(path, beside);
        if (code == EXIT_DONE)
            path_print(stdout, "with its data: %s\n", beside);
        free(beside);
    }
    free(path);
    return code;
}

static int start_write(const struct starts *s, const char *name, const char *file)
{
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->names[i], name) != 0)
            continue;
        char *path = text_format("%s/%s" ENDING, s->folder, name);
        int code = file_copy(path, file);
        free(path);
        return code == EXIT_DONE ? data_write(s, name, file) : code;
    }
    const char *near = err_near_miss(name, (const char *const *)s->names);
    fprintf(stderr, "collwire: new: there is no \"%s\"%s%s%s\n", name,
            near ? "; did you mean \"" : "; collwire new lists what there is", near ? near : "",
            near ? "\"?" : "");
    return EXIT_BAD_USE;
}

static int command_new(const struct options *o)
{
    struct starts s;
    if (o->n_args > 1) {
        fputs("collwire: new takes one name; see collwire new --help\n", stderr);
        return EXIT_BAD_USE;
    }
    int code = starts_find(&s) == 0 ? EXIT_DONE : EXIT_BAD_USE;
    if (code == EXIT_DONE && o->n_args == 0)
        starts_print(&s);
    else if (code == EXIT_DONE)
        code = start_write(&s, o->args[0], o->file);
    starts_free(&s);
    return code;
}

/* ---- its row ---- */

static const char new_text[] =
    "Prints a scenario to start from, or writes it to FILE; without a name, lists those that there "
    "are. Each is small and valid, and its description names what to change and the page that "
    "explains it.\n\n"
    "  collwire new\n"
    "  collwire new incast -o job.json\n"
    "  collwire new diagnose -o cluster.json   # and cluster.csv, its data\n"
    "  collwire new llm | collwire run - --cc dcqcn --out out/llm";

const struct command new_command = {
    .name = "new",
    .help = "a scenario to start from",
    .args = "[NAME]",
    .text = new_text,
    .run = command_new,
    .completes = COMPLETE_NOTHING,
};
