// SPDX-License-Identifier: MIT
// Each file is opened once, for its beginning.
#include "cli/import/found.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/import/import_folder.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

static void file_look(struct found *found, const char *path, struct err *err)
{
    struct content content;
    if (content_read(&content, path, err) == 0) {
        if (found->n == found->cap)
            found->files = memory_grow(found->files, &found->cap, sizeof *found->files);
        found->files[found->n++] = (struct found_file){
            .path = memory_text(path), .kind = kind_of(&content), .utf16 = content.utf16};
    }
    content_free(&content);
}

static void folder_look(struct found *found, const char *path, struct err *err)
{
    static const char *const any[] = {"", NULL};
    struct folder folder = {0};
    if (folder_list(&folder, path, any, err) == 0)
        for (size_t i = 0; i < folder.n; i++)
            file_look(found, folder.paths[i], err);
    folder_free(&folder);
}

// Traces PREFIX.0.et, PREFIX.1.et, .. Returns false if there are none.
static bool traces_look(struct found *found, const char *prefix, struct err *err)
{
    static const char *const ends[] = {"et", "et.gz", "json"};
    enum { N_ENDS = sizeof ends / sizeof *ends };
    struct stat info;
    size_t before = found->n;
    for (unsigned rank = 0;; rank++) {
        size_t e = 0;
        for (; e < N_ENDS; e++) {
            char *path = text_format("%s.%u.%s", prefix, rank, ends[e]);
            bool there = stat(path, &info) == 0 && S_ISREG(info.st_mode);
            if (there)
                file_look(found, path, err);
            free(path);
            if (there)
                break;
        }
        if (e == N_ENDS)
            return found->n > before;
    }
}

int found_read(struct found *found, const char *const *args, size_t n, struct err *err)
{
    size_t errors = err->n_errors;
    for (size_t i = 0; i < n; i++) {
        struct stat info;
        if (stat(args[i], &info) != 0) {
            int why = errno;
            if (why != ENOENT || !traces_look(found, args[i], err))
                err_add(err, args[i], "cannot be read: %s", strerror(why));
        } else if (S_ISDIR(info.st_mode)) {
            folder_look(found, args[i], err);
        } else {
            file_look(found, args[i], err);
        }
    }
    return err->n_errors == errors ? 0 : -1;
}

void found_free(struct found *found)
{
    for (size_t i = 0; i < found->n; i++)
        free(found->files[i].path);
    free(found->files);
}

static bool is_kind(const struct found_file *file, const char *name)
{
    return name == NULL ? file->kind == NULL
                        : file->kind != NULL && strcmp(file->kind->name, name) == 0;
}

size_t found_count(const struct found *found, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < found->n; i++)
        n += is_kind(&found->files[i], name);
    return n;
}

const char *found_first(const struct found *found, const char *name)
{
    for (size_t i = 0; i < found->n; i++)
        if (is_kind(&found->files[i], name))
            return found->files[i].path;
    return NULL;
}
