// SPDX-License-Identifier: MIT
// The files of one kind are a job, or the only file of a kind; files of other kinds are named.
#include "cli/import/import_any.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/found.h"
#include "cli/import/recording_command.h"
#include "cli/import/simulator_command.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define NAMED_MOST 8

struct decision {
    const struct options *o;
    struct found found;
    struct notes notes;
    struct err err;
    const struct file_kind *kind;
    const char *network; // of the job; NULL = none is given
};

/* ---- which kind ---- */

static bool is_main(const struct file_kind *kind)
{
    return kind != NULL && kind->use != KIND_PART && kind->use != KIND_OTHER;
}

// The network that stands beside the files of a job; NULL = none, or an error.
static const char *network_beside(struct decision *d)
{
    const struct found_file *first = NULL;
    for (size_t i = 0; i < d->found.n; i++) {
        const struct file_kind *kind = d->found.files[i].kind;
        if (kind == NULL || kind->use != KIND_NETWORK || d->o->network != NULL)
            continue;
        if (first != NULL) {
            err_add(&d->err, NULL, "two networks, %s and %s: --network FILE says which",
                    first->path, d->found.files[i].path);
            return NULL;
        }
        first = &d->found.files[i];
    }
    return first != NULL ? first->path : d->o->network;
}

// --as: the files of the kind, or if there are none, those that are not known.
static const struct file_kind *kind_asked(struct decision *d)
{
    const struct file_kind *kind = kind_named(d->o->as_kind);
    if (!is_main(kind)) {
        struct text text;
        FILE *out = text_open(&text);
        for (const struct file_kind *k = file_kinds; k->name != NULL; k++)
            if (is_main(k))
                fprintf(out, " %s", k->name);
        char *names = text_close(out, &text);
        err_add(&d->err, "--as", "\"%s\" is none of the kinds that can be imported:%s",
                d->o->as_kind, names);
        free(names);
        return NULL;
    }
    bool any = found_count(&d->found, kind->name) > 0;
    for (size_t i = 0; i < d->found.n && !any; i++)
        if (d->found.files[i].kind == NULL || !is_main(d->found.files[i].kind))
            d->found.files[i].kind = kind;
    if (found_count(&d->found, kind->name) == 0)
        err_add(&d->err, "--as", "no file can be %s", kind->what);
    return kind;
}

// Names all kinds that were looked for.
static void unknown_error(struct decision *d)
{
    struct text text;
    FILE *out = text_open(&text);
    for (const struct file_kind *k = file_kinds; k->name != NULL; k++)
        fprintf(out, "%s%s", k == file_kinds ? "" : k[1].name != NULL ? ", " : " and ", k->what);
    char *kinds = text_close(out, &text);
    for (size_t i = 0; i < d->found.n && i < NAMED_MOST; i++) {
        const struct found_file *file = &d->found.files[i];
        if (file->utf16)
            err_add(&d->err, file->path, "is text in UTF-16: save it as UTF-8");
        else if (file->kind == NULL)
            err_add(&d->err, file->path, "is not known by its content");
        else
            err_add(&d->err, file->path, "is %s: %s", file->kind->what, file->kind->way);
    }
    if (d->found.n > NAMED_MOST)
        err_add(&d->err, NULL, "%zu more files hold no job", d->found.n - NAMED_MOST);
    if (found_count(&d->found, NULL) > 0)
        err_add(&d->err, NULL, "looked for: %s; --as KIND takes a file as one of a kind", kinds);
    free(kinds);
}

static const struct file_kind *kind_found(struct decision *d)
{
    const struct file_kind *only = NULL;
    struct text text;
    size_t n = 0;
    FILE *out = text_open(&text);
    bool job = false; // beside which a network is none of its own
    for (size_t i = 0; i < d->found.n; i++)
        job =
            job || (is_main(d->found.files[i].kind) && d->found.files[i].kind->use != KIND_NETWORK);
    for (const struct file_kind *k = file_kinds; k->name != NULL; k++) {
        size_t files = found_count(&d->found, k->name);
        bool part = (k->use == KIND_GRAPHS && found_count(&d->found, "kineto") > 0) ||
                    (k->use == KIND_NETWORK && job);
        if (files == 0 || !is_main(k) || part)
            continue;
        only = k;
        fprintf(out, "%s%zu of %s (%s)", n++ > 0 ? ", " : "", files, k->name,
                found_first(&d->found, k->name));
    }
    char *kinds = text_close(out, &text);
    if (n == 0)
        unknown_error(d);
    else if (n > 1)
        err_add(&d->err, NULL, "the files are of several kinds: %s; --as KIND takes one", kinds);
    free(kinds);
    return n == 1 ? only : NULL;
}

/* ---- what was not taken ---- */

// Files that are part of what is taken are not named.
static void rest_say(struct decision *d, const char *const *parts)
{
    size_t n = 0, unknown = 0;
    for (size_t i = 0; i < d->found.n; i++) {
        const struct found_file *file = &d->found.files[i];
        bool taken = file->kind == d->kind || file->path == d->network;
        for (const char *const *part = parts; part != NULL && *part != NULL; part++)
            taken = taken || (file->kind != NULL && strcmp(file->kind->name, *part) == 0);
        if (taken)
            continue;
        unknown += file->kind == NULL;
        if (n++ < NAMED_MOST)
            note_say(&d->notes, "not taken: %s, %s%s%s", file->path,
                     file->kind != NULL ? file->kind->what : "not known by its content",
                     file->kind != NULL && file->kind->way != NULL ? ": " : "",
                     file->kind != NULL && file->kind->way != NULL ? file->kind->way : "");
    }
    if (n > NAMED_MOST)
        note_say(&d->notes, "not taken: %zu more files, of all %zu not known by their content",
                 n - NAMED_MOST, unknown);
}

/* ---- imports ---- */

static int failed(struct decision *d)
{
    errors_print(&d->err);
    return EXIT_BAD_USE;
}

static int recording_take(struct decision *d)
{
    static const char *const parts[] = {"observer", NULL};
    bool kineto = strcmp(d->kind->name, "kineto") == 0;
    size_t n = 0;
    if (d->o->file == NULL) {
        err_add(&d->err, NULL, "%s: -o FILE is needed, since the program is a file beside it",
                d->kind->what);
        return failed(d);
    }
    const char **files = memory_zeroed(d->found.n + 1, sizeof *files);
    for (size_t i = 0; i < d->found.n; i++) {
        const struct file_kind *kind = d->found.files[i].kind;
        if (kind == d->kind || (kineto && kind != NULL && strcmp(kind->name, "observer") == 0))
            files[n++] = d->found.files[i].path;
    }
    rest_say(d, kineto ? parts : NULL);
    note_say(&d->notes, "%zu file%s: %s", n, n == 1 ? "" : "s", d->kind->what);
    struct recording_files given = {.format = d->kind->name,
                                    .folder = d->o->args[0],
                                    .files = files,
                                    .n_files = n,
                                    .network = d->network,
                                    .notes = &d->notes};
    int code = recording_import(d->o, &given);
    free(files);
    return code;
}

// "llm" of "llm.12.et"; NULL if the path does not end so. To be freed.
static char *prefix_of(const char *path)
{
    static const char *const ends[] = {".et", ".et.gz", ".json"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(path), end = strlen(ends[i]);
        if (n <= end || strcmp(path + n - end, ends[i]) != 0)
            continue;
        size_t digits = n -= end;
        while (digits > 0 && path[digits - 1] >= '0' && path[digits - 1] <= '9')
            digits--;
        if (digits < n && digits > 1 && path[digits - 1] == '.')
            return text_format("%.*s", (int)digits - 1, path);
    }
    return NULL;
}

// The only file of a kind, or that of the option.
static const char *part_of(struct decision *d, const char *option, const char *kind)
{
    if (option != NULL)
        return option;
    if (found_count(&d->found, kind) > 1)
        err_add(&d->err, NULL, "%zu files are %s: %s is the first of them; name one by its option",
                found_count(&d->found, kind), kind_named(kind)->what, found_first(&d->found, kind));
    return found_first(&d->found, kind);
}

static bool is_kind(const char *path, const char *name)
{
    struct content content;
    struct err err = {0};
    bool is =
        path != NULL && content_read(&content, path, &err) == 0 && kind_named(name)->is(&content);
    if (path != NULL)
        content_free(&content);
    err_free(&err);
    return is;
}

static int traces_take(struct decision *d)
{
    static const char *const parts[] = {"astra2-network", "astra2-system", "astra2-memory",
                                        "groups", NULL};
    const struct options *o = d->o;
    char *prefix = NULL;
    uint32_t ranks = 0;
    for (size_t i = 0; i < d->found.n && d->err.n_errors == 0; i++) {
        if (d->found.files[i].kind != d->kind)
            continue;
        char *own = prefix_of(d->found.files[i].path);
        if (own == NULL)
            err_add(&d->err, d->found.files[i].path,
                    "the name must end in the rank: PREFIX.0.et, PREFIX.1.et, ..");
        else if (prefix != NULL && strcmp(prefix, own) != 0)
            err_add(&d->err, NULL, "traces of several sets, %s and %s: import one prefix", prefix,
                    own);
        ranks++;
        free(prefix);
        prefix = own;
    }
    const char *network = part_of(d, o->network, "astra2-network");
    const char *system = part_of(d, o->system, "astra2-system");
    bool astra2 = network != NULL && (o->network == NULL || is_kind(network, "astra2-network"));
    if (network == NULL)
        network = d->network;
    if (astra2 != (system != NULL))
        err_add(&d->err, NULL,
                "traces with %s of ASTRA-sim 2 need its %s too: --network FILE.yml --system "
                "FILE.json",
                astra2 ? "a network" : "a system", astra2 ? "system" : "network");
    struct chakra_import from = {.prefix = prefix,
                                 .network = network,
                                 .system = system,
                                 .groups = part_of(d, o->groups, "groups"),
                                 .memory = part_of(d, o->memory, "astra2-memory"),
                                 .ignores_missing = o->ignore_missing,
                                 .output = o->file};
    int code = EXIT_BAD_USE;
    rest_say(d, astra2 ? parts : parts + 3);
    if (d->err.n_errors > 0)
        failed(d);
    else if (astra2)
        code = chakra_import_files(o, &from, &d->notes);
    else
        code = traces_import(o, &from, ranks, &d->notes);
    free(prefix);
    return code;
}

static int job_take(struct decision *d)
{
    static const char *const parts[] = {"astra-network", "astra-system", NULL};
    struct astra_import astra = {.network = found_first(&d->found, "astra-network"),
                                 .system = found_first(&d->found, "astra-system"),
                                 .workload = found_first(&d->found, d->kind->name),
                                 .passes = d->o->passes,
                                 .compute_scale = d->o->compute_scale};
    if (found_count(&d->found, d->kind->name) > 1) {
        err_add(&d->err, NULL, "%zu files are each %s: import takes one",
                found_count(&d->found, d->kind->name), d->kind->what);
        return failed(d);
    }
    bool whole = strcmp(d->kind->name, "training") == 0 && astra.network != NULL &&
                 astra.system != NULL && d->network == NULL;
    rest_say(d, whole ? parts : NULL);
    return whole ? astra_import_files(d->o, &astra, &d->notes)
                 : file_job_import(d->o, d->kind, astra.workload, d->network, &d->notes);
}

int import_any(const struct options *o)
{
    struct decision d = {.o = o};
    int code = EXIT_BAD_USE;
    if (found_read(&d.found, o->args, o->n_args, &d.err) == 0)
        d.kind = o->as_kind != NULL ? kind_asked(&d) : kind_found(&d);
    if (d.err.n_errors == 0)
        d.network = network_beside(&d);
    if (d.err.n_errors > 0)
        failed(&d);
    else if (d.kind->use == KIND_RECORDING || d.kind->use == KIND_GRAPHS)
        code = recording_take(&d);
    else if (d.kind->use == KIND_TRACES)
        code = traces_take(&d);
    else
        code = job_take(&d);
    notes_free(&d.notes);
    found_free(&d.found);
    err_free(&d.err);
    return code;
}
