// SPDX-License-Identifier: MIT
// Opens, stages and commits a set of result files.
#include "cli/results/result_set.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/results/folder.h"
#include "cli/results/result_journal.h"
#include "cli/results/result_owner.h"
#include "cli/terminal/invocation.h"
#include "cli/terminal/signals.h"
#include "collwire/collwire.h"
#include "config/object/output_name.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "sim/result/result.h"

struct result_set {
    char *dir, *staging;
    size_t existed; // length of the part of the path `dir` that existed before
    int dir_fd, own_fd, new_fd, lock_fd;
    char id[33];
    char **names; // claimed
    size_t n_names, cap_names;
    struct result_owner earlier; // the set now in the directory
    bool locked, committed;
};

static int fail(struct err *err, const char *dir, const char *name, const char *what)
{
    char *path = text_format("%s%s%s", dir, *name ? "/" : "", name);
    err_add(err, path, "%s: %s", what, strerror(errno));
    free(path);
    return -1;
}

/* ---- the lock ---- */

enum lock { LOCK_HELD, LOCK_TAKEN, LOCK_AGAIN, LOCK_ERROR };

// Create and lock DIR/.collwire/lock. The previous owner may remove the file at the same time; then
// the locked file no longer has this name, and the caller must try again.
static enum lock lock_try(struct result_set *set)
{
    struct stat open_one, there;
    if (mkdirat(set->dir_fd, RESULT_FOLDER, 0777) != 0 && errno != EEXIST)
        return LOCK_ERROR;
    set->own_fd = folder_open(set->dir_fd, RESULT_FOLDER);
    if (set->own_fd < 0)
        return errno == ENOENT ? LOCK_AGAIN : LOCK_ERROR;
    set->lock_fd = openat(set->own_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (set->lock_fd < 0)
        return errno == ENOENT ? LOCK_AGAIN : LOCK_ERROR;
    if (flock(set->lock_fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? LOCK_TAKEN : LOCK_ERROR;
    if (fstat(set->lock_fd, &open_one) == 0 &&
        fstatat(set->own_fd, "lock", &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        open_one.st_ino == there.st_ino && open_one.st_dev == there.st_dev)
        return LOCK_HELD;
    return LOCK_AGAIN;
}

static void descriptor_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int lock_take(struct result_set *set, struct err *err)
{
    enum lock lock = LOCK_AGAIN;
    for (int tries = 0; lock == LOCK_AGAIN && tries < 1000; tries++) {
        descriptor_close(&set->lock_fd);
        descriptor_close(&set->own_fd);
        lock = lock_try(set);
    }
    set->locked = lock == LOCK_HELD;
    if (set->locked)
        return 0;
    if (lock == LOCK_TAKEN)
        return err_add(err, set->dir,
                       "another collwire is writing there; wait for its end or choose another "
                       "--out");
    return fail(err, set->dir, RESULT_FOLDER, "cannot be used for staging");
}

/* ---- opening ---- */

static void id_make(char id[33])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        memset(bytes, 0, sizeof bytes);
    text_hex(bytes, sizeof bytes, id);
}

// Register the files that an interruption must remove; removal is in reverse order.
static void remove_later(const struct result_set *set)
{
    char *own = text_format("%s/" RESULT_FOLDER, set->dir),
         *lock = text_format("%s/" RESULT_FOLDER "/lock", set->dir);
    if (set->existed < strlen(set->dir))
        signals_remove_later(set->dir);
    signals_remove_later(own);
    signals_remove_later(lock);
    signals_remove_later(set->staging);
    free(own);
    free(lock);
}

static int open_in(struct result_set *set, struct err *err)
{
    if (folder_make(set->dir, &set->existed) != 0)
        return fail(err, set->dir, "", "cannot make the output directory");
    set->dir_fd = open(set->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (set->dir_fd < 0)
        return fail(err, set->dir, "", "cannot be opened");
    if (lock_take(set, err) != 0)
        return -1;
    if (result_journal_recover(set->dir_fd, set->own_fd) != 0)
        return fail(err, set->dir, "", "results of a killed run cannot be completed");
    if (mkdirat(set->own_fd, RESULT_NEW, 0777) != 0 ||
        (set->new_fd = folder_open(set->own_fd, RESULT_NEW)) < 0)
        return fail(err, set->dir, "", "cannot write there");
    result_owner_read(&set->earlier, set->dir_fd);
    return 0;
}

struct result_set *result_set_open(const char *dir, struct err *err)
{
    if (*dir == '\0') {
        err_add(err, "--out", "the output directory has no name");
        return NULL;
    }
    struct result_set *set = memory_zeroed(1, sizeof *set);
    set->dir = memory_text(dir);
    set->staging = text_format("%s/" RESULT_FOLDER "/" RESULT_NEW, dir);
    set->dir_fd = set->own_fd = set->new_fd = set->lock_fd = -1;
    id_make(set->id);
    if (open_in(set, err) != 0) {
        result_set_close(set);
        return NULL;
    }
    remove_later(set);
    return set;
}

/* ---- staging ---- */

static bool claimed(const struct result_set *set, const char *name)
{
    for (size_t i = 0; i < set->n_names; i++)
        if (strcmp(set->names[i], name) == 0)
            return true;
    return false;
}

int result_set_claim(struct result_set *set, const char *name, struct err *err)
{
    struct stat there;
    if (claimed(set, name))
        return 0;
    if (folder_stat(set->dir_fd, name, &there) == 0) {
        char *path = text_format("%s/%s", set->dir, name);
        bool regular = S_ISREG(there.st_mode), ours = result_owner_has(&set->earlier, name);
        if (!regular)
            err_add(err, path, "is in the way: not a regular file");
        else if (!ours)
            err_add(err, path,
                    "is not a result of collwire and is not replaced; choose another --out or "
                    "remove it");
        free(path);
        if (!regular || !ours)
            return -1;
    } else if (errno != ENOENT) {
        return fail(err, set->dir, name, "cannot be written");
    }
    const char *last;
    // make the folders, since libpcap opens captures by path
    int folder = folder_of(set->new_fd, name, true, &last);
    if (folder < 0)
        return fail(err, set->dir, name, "cannot be written");
    close(folder);
    if (set->n_names == set->cap_names)
        set->names = memory_grow(set->names, &set->cap_names, sizeof *set->names);
    set->names[set->n_names++] = memory_text(name);
    char *path = text_format("%s/%s", set->staging, name);
    signals_remove_later(path);
    free(path);
    return 0;
}

const char *result_set_staging(const struct result_set *set) { return set->staging; }
const char *result_set_id(const struct result_set *set) { return set->id; }

int result_set_write(struct result_set *set, const char *name, const char *text, struct err *err)
{
    if (result_set_claim(set, name, err) != 0)
        return -1;
    if (folder_write(set->new_fd, name, text, strlen(text)) != 0)
        return fail(err, set->dir, name, "cannot be written");
    return 0;
}

int result_set_stream(struct result_set *set, const char *name, bool (*write)(void *ctx, FILE *out),
                      void *ctx, struct err *err)
{
    if (result_set_claim(set, name, err) != 0)
        return -1;
    if (folder_stream(set->new_fd, name, write, ctx) != 0)
        return fail(err, set->dir, name, "cannot be written");
    return 0;
}

void result_set_drop(struct result_set *set, const char *name) { folder_unlink(set->new_fd, name); }

/* ---- commit ---- */

// The staged files as a list of {name, bytes, sha256}, and their names; NULL with an error.
static json_t *staged_files(const struct result_set *set, json_t *names, struct err *err)
{
    json_t *files = json_array();
    for (size_t i = 0; i < set->n_names; i++) {
        const char *name = set->names[i];
        struct stat about;
        char sha256[RESULT_HASH_TEXT];
        if (strcmp(name, "run.json") == 0 || folder_stat(set->new_fd, name, &about) != 0)
            continue; // claimed, but never staged
        if (result_hash(set->new_fd, name, sha256) != 0) {
            fail(err, set->dir, name, "cannot be read back");
            json_decref(files);
            return NULL;
        }
        json_array_append_new(names, json_string(name));
        json_array_append_new(files, json_pack("{s:s, s:I, s:s}", "name", name, "bytes",
                                               (json_int_t)about.st_size, "sha256", sha256));
    }
    return files;
}

// Returns the facts of run.json besides the files; without a text: the program's version.
static json_t *run_facts(const char *run_json)
{
    return run_json ? json_loads(run_json, 0, NULL)
                    : json_pack("{s:{s:s}}", "versions", "collwire", collwire_version());
}

// Text of run.json for a new set. Takes the reference to `files`.
static char *manifest(const struct result_set *set, const char *run_json, json_t *files)
{
    json_t *run = run_facts(run_json), *command = json_string(invocation_text());
    if (command) // text in UTF-8
        json_object_set_new(run, "command", command);
    json_object_set_new(run, "id", json_string(set->id));
    json_object_set_new(run, "files", files);
    char *text = run ? json_dumps(run, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(run);
    return text;
}

// Text of run.json for the earlier set with more files. Takes the reference to `files`.
static char *manifest_of_more(const struct result_set *set, const char *run_json, json_t *files)
{
    char *earlier = folder_read(set->dir_fd, "run.json");
    json_t *run = run_facts(earlier ? earlier : run_json), *all = json_array();
    json_t *file;
    size_t i;
    json_array_foreach(json_object_get(run, "files"), i, file)
    {
        const char *name = json_string_value(json_object_get(file, "name"));
        if (name && !claimed(set, name))
            json_array_append(all, file);
    }
    json_array_extend(all, files);
    json_decref(files);
    json_object_set_new(run, "files", all);
    if (!json_object_get(run, "id"))
        json_object_set_new(run, "id", json_string(set->id));
    char *text = run ? json_dumps(run, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(run);
    free(earlier);
    return text;
}

// Write the journal and carry it out.
static int put_in_place(struct result_set *set, json_t *install, json_t *remove, struct err *err)
{
    int status = 0;
    signals_hold(true);
    if (result_journal_write(set->own_fd, install, remove) != 0)
        status = fail(err, set->dir, RESULT_FOLDER "/journal", "cannot be written");
    set->committed = status == 0;
    if (status == 0 && result_journal_recover(set->dir_fd, set->own_fd) != 0)
        status = fail(err, set->dir, "",
                      "the results could not all be put in place; the next command completes them");
    signals_keep();
    signals_hold(false);
    return status;
}

static int commit(struct result_set *set, const char *run_json, bool keep, struct err *err)
{
    json_t *install = json_array(), *remove = json_array(), *files = NULL;
    char *text = NULL;
    int status = result_set_claim(set, "run.json", err);
    if (status == 0)
        files = staged_files(set, install, err);
    if (files)
        text = keep ? manifest_of_more(set, run_json, files) : manifest(set, run_json, files);
    if (text)
        status = result_set_write(set, "run.json", text, err);
    else
        status = -1;
    if (!keep)
        result_owner_stale(&set->earlier, install, remove);
    if (status == 0)
        status = put_in_place(set, install, remove, err);
    free(text);
    json_decref(install);
    json_decref(remove);
    return status;
}

void result_set_leave(struct result_set *set)
{
    descriptor_close(&set->lock_fd);
    descriptor_close(&set->new_fd);
    descriptor_close(&set->own_fd);
    descriptor_close(&set->dir_fd);
}

int result_set_commit(struct result_set *set, const char *run_json, struct err *err)
{
    return commit(set, run_json, false, err);
}

int result_set_extend(struct result_set *set, const char *run_json, struct err *err)
{
    return commit(set, run_json, true, err);
}

void result_set_close(struct result_set *set)
{
    if (!set)
        return;
    if (set->locked) {
        struct stat journal;
        if (fstatat(set->own_fd, "journal", &journal, AT_SYMLINK_NOFOLLOW) != 0)
            folder_wipe(set->own_fd, RESULT_NEW);
        unlinkat(set->own_fd, "lock", 0);
        unlinkat(set->dir_fd, RESULT_FOLDER, AT_REMOVEDIR);
        signals_keep();
    }
    descriptor_close(&set->lock_fd);
    descriptor_close(&set->new_fd);
    descriptor_close(&set->own_fd);
    descriptor_close(&set->dir_fd);
    if (!set->committed && set->existed < strlen(set->dir))
        folder_unmake(set->dir, set->existed);
    for (size_t i = 0; i < set->n_names; i++)
        free(set->names[i]);
    free(set->names);
    result_owner_free(&set->earlier);
    free(set->dir);
    free(set->staging);
    free(set);
}

char *result_set_read(const char *dir, const char *id, const char *name)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *run = fd >= 0 ? folder_read(fd, "run.json") : NULL, *text = NULL;
    json_t *json = run ? json_loads(run, 0, NULL) : NULL;
    const char *there = json_string_value(json_object_get(json, "id"));
    if (there && (!id || strcmp(there, id) == 0))
        text = folder_read(fd, name);
    json_decref(json);
    free(run);
    if (fd >= 0)
        close(fd);
    return text;
}

json_t *result_set_json(const char *dir, const char *name)
{
    char *text = result_set_read(dir, NULL, name);
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return json;
}

typedef int end_set(struct result_set *set, const char *run_json, struct err *err);

static int write_one(const char *dir, const char *name, const char *text, end_set *end,
                     struct err *err)
{
    struct result_set *set = result_set_open(dir, err);
    int status = set ? result_set_write(set, name, text, err) : -1;
    if (status == 0)
        status = end(set, NULL, err);
    result_set_close(set);
    return status;
}

static int write_one_json(const char *dir, const char *name, const json_t *json, end_set *end,
                          struct err *err)
{
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    int status = write_one(dir, name, text, end, err);
    free(text);
    return status;
}

int result_set_add(const char *dir, const char *name, const char *text, struct err *err)
{
    return write_one(dir, name, text, result_set_extend, err);
}

int result_set_add_json(const char *dir, const char *name, const json_t *json, struct err *err)
{
    return write_one_json(dir, name, json, result_set_extend, err);
}

int result_set_put_json(const char *dir, const char *name, const json_t *json, struct err *err)
{
    return write_one_json(dir, name, json, result_set_commit, err);
}
