// SPDX-License-Identifier: MIT
// The files of a set: which there are, and which ranks have the same one.
#include "workload/chakra/set_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

#define SHOWN 10 // errors of a kind

struct identity { // of a file
    dev_t device;
    ino_t inode;
    uint32_t rank;
};

static int compare_identities(const void *a, const void *b)
{
    const struct identity *x = a, *y = b;
    if (x->device != y->device)
        return x->device > y->device ? 1 : -1;
    if (x->inode != y->inode)
        return x->inode > y->inode ? 1 : -1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

// PREFIX.N.et, or where there is none PREFIX.N.et.gz or PREFIX.N.json. To be freed.
static char *file_name(const char *prefix, uint32_t rank)
{
    static const char *const ends[] = {"et", "et.gz", "json"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct stat file;
        char *name = text_format("%s.%u.%s", prefix, rank, ends[i]);
        if (stat(name, &file) == 0)
            return name;
        free(name);
    }
    return text_format("%s.%u.et", prefix, rank);
}

// Look up the file of every rank. Returns 0, or -1 with errors that name the missing files.
static int files_find(struct trace_set *set, struct identity *of, const char *path, struct err *err)
{
    uint32_t missing = 0;
    for (uint32_t r = 0; r < set->n_ranks; r++) {
        struct stat file;
        if (stat(set->files[r], &file) == 0) {
            of[r] = (struct identity){file.st_dev, file.st_ino, r};
            continue;
        }
        if (missing++ < SHOWN)
            err_add(err, path, "the trace of rank %u, %s: %s", r, set->files[r], strerror(errno));
    }
    if (missing > SHOWN)
        err_add(err, path, "%u more ranks have no trace", missing - SHOWN);
    return missing > 0 ? -1 : 0;
}

int trace_set_open(struct trace_set *set, const char *prefix, uint32_t n_ranks,
                   const char *groups_file, const struct trace_rules *rules, const char *path,
                   const char *groups_path, struct err *err)
{
    *set = (struct trace_set){.n_ranks = n_ranks, .rules = *rules};
    trace_groups_init(&set->groups, n_ranks);
    trace_word(&set->uses, "communication");
    set->files = memory_zeroed(n_ranks, sizeof *set->files);
    set->same = memory_zeroed(n_ranks, sizeof *set->same);
    for (uint32_t r = 0; r < n_ranks; r++)
        set->files[r] = file_name(prefix, r);
    struct identity *of = memory_zeroed(n_ranks, sizeof *of);
    int result = files_find(set, of, path, err);
    if (result == 0)
        qsort(of, n_ranks, sizeof *of, compare_identities);
    for (uint32_t i = 0; i < n_ranks && result == 0; i++) {
        bool again = i > 0 && of[i].device == of[i - 1].device && of[i].inode == of[i - 1].inode;
        set->same[of[i].rank] = again ? set->same[of[i - 1].rank] : of[i].rank;
    }
    free(of);
    char *one_more = file_name(prefix, n_ranks);
    struct stat file;
    if (result == 0 && stat(one_more, &file) == 0)
        result =
            err_add(err, path, "there is a trace for rank %u too, %s, but the job has %u ranks",
                    n_ranks, one_more, n_ranks);
    free(one_more);
    if (groups_file != NULL && trace_groups_read(&set->groups, groups_file, groups_path, err) != 0)
        result = -1;
    return result;
}

static void words_free(struct trace_words *words)
{
    for (uint32_t i = 0; i < words->n; i++)
        free(words->items[i]);
    free(words->items);
}

void trace_set_free(struct trace_set *set)
{
    for (uint32_t r = 0; r < set->n_ranks && set->files != NULL; r++)
        free(set->files[r]);
    for (uint32_t r = 0; r < set->n_ranks && set->missing != NULL; r++)
        free(set->missing[r].items);
    free(set->missing);
    for (size_t i = 0; i < set->n_uneven; i++) {
        free((void *)(uintptr_t)set->uneven[i].vectors->bytes);
        free(set->uneven[i].vectors);
    }
    free(set->uneven);
    trace_program_free(&set->exported);
    free(set->files);
    free(set->same);
    trace_groups_free(&set->groups);
    words_free(&set->uses);
    words_free(&set->layers);
    free(set->used);
    free(set->tags);
    free(set->tag_table);
    *set = (struct trace_set){0};
}
