// SPDX-License-Identifier: MIT
// "Collective name": "allreduce", "In msg nelems": 2049000, "dtype": "Float", "Process Group Name":
// "0", "Process Group Ranks": "[0, 1]", "Group size": 2, ..
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/kineto_internal.h"
#include "cli/import/words.h"
#include "engine/base/memory.h"

#define ELEMENTS_MOST (INT64_C(1) << 50)

/* ---- errors ---- */

void kineto_error(struct kineto_file *f, uint64_t offset, const char *format, ...)
{
    char text[256];
    va_list list;
    if (recording_is_full(f->recording))
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    err_add(f->recording->err, f->path, "byte %" PRIu64 ": %s", offset, text);
}

/* ---- process groups ---- */

// Ranks of a list, or of its text "[0, 1]". Returns their number, 0 if it is cut ("...") or wrong.
static uint32_t ranks_read(const json_t *list, uint32_t **ranks)
{
    const char *text = json_string_value(list);
    json_t *read = text != NULL ? json_loads(text, 0, NULL) : NULL;
    const json_t *array = text != NULL ? read : list;
    size_t n = json_array_size(array);
    *ranks = memory_zeroed(n + 1, sizeof **ranks);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(array, i);
        json_int_t rank = json_is_integer(item) ? json_integer_value(item) : -1;
        if (rank < 0 || rank >= RANKS_MOST) {
            n = 0;
            break;
        }
        (*ranks)[i] = (uint32_t)rank;
    }
    json_decref(read);
    return (uint32_t)n;
}

struct kineto_group *kineto_group_note(struct kineto_file *f, const char *name, const json_t *ranks)
{
    struct kineto_group *group = NULL;
    for (size_t g = 0; g < f->n_groups && group == NULL; g++)
        if (!f->groups[g].world && strcmp(f->groups[g].name, name) == 0)
            group = &f->groups[g];
    if (group == NULL) {
        if (f->n_groups == f->cap_groups)
            f->groups = memory_grow(f->groups, &f->cap_groups, sizeof *f->groups);
        group = &f->groups[f->n_groups++];
        *group = (struct kineto_group){.name = memory_text(name)};
    }
    if (group->n_ranks == 0 && ranks != NULL) {
        free(group->ranks);
        group->n_ranks = ranks_read(ranks, &group->ranks);
    }
    return group;
}

static const char *group_name(const json_t *args, char *room, size_t size)
{
    const json_t *id = json_object_get(args, "Process Group ID"); // before mid 2024
    const char *name = json_string_value(json_object_get(args, "Process Group Name"));
    if (name == NULL || name[0] == '\0')
        name = json_string_value(json_object_get(args, "Process Group Ranks"));
    if (name != NULL && (json_object_get(args, "Process Group Name") != NULL || id == NULL))
        return name;
    snprintf(room, size, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
    return room;
}

static uint32_t group_read(struct kineto_file *f, const json_t *args)
{
    char room[32];
    struct kineto_group *group = kineto_group_note(f, group_name(args, room, sizeof room),
                                                   json_object_get(args, "Process Group Ranks"));
    const char *description = json_string_value(json_object_get(args, "Process Group Description"));
    json_int_t size = json_integer_value(json_object_get(args, "Group size"));
    if (group->description == NULL && description != NULL)
        group->description = memory_text(description);
    if (size > 0 && size <= RANKS_MOST)
        group->size = (uint32_t)size;
    return (uint32_t)(group - f->groups);
}

/* ---- sizes ---- */

static int elements(struct kineto_file *f, const json_t *args, const char *key, uint64_t offset,
                    uint64_t *n)
{
    const json_t *value = json_object_get(args, key);
    json_int_t got = json_is_integer(value) ? json_integer_value(value) : 0;
    *n = 0;
    if (got < 0 || got > ELEMENTS_MOST) {
        kineto_error(f, offset, "%s: %" JSON_INTEGER_FORMAT " is no number of elements", key, got);
        return -1;
    }
    *n = (uint64_t)got;
    return 0;
}

// True if the list of sizes has different ones.
static bool splits_differ(const json_t *args, const char *key)
{
    const json_t *value = json_object_get(args, key);
    const char *text = json_string_value(value);
    json_t *read = text != NULL ? json_loads(text, 0, NULL) : NULL;
    const json_t *list = text != NULL ? read : value;
    bool differ = text != NULL && strstr(text, "...") != NULL;
    for (size_t i = 1; i < json_array_size(list); i++)
        differ = differ || json_integer_value(json_array_get(list, i)) !=
                               json_integer_value(json_array_get(list, 0));
    json_decref(read);
    return differ;
}

static int sizes_read(struct kineto_file *f, const json_t *args, uint64_t offset, struct call *call)
{
    const char *type = json_string_value(json_object_get(args, "dtype"));
    uint64_t in, out, bytes = type != NULL ? torch_type_bytes(type) : 0;
    if (elements(f, args, "In msg nelems", offset, &in) != 0 ||
        elements(f, args, "Out msg nelems", offset, &out) != 0)
        return -1;
    if (bytes == 0 && call->op != COLL_BARRIER) {
        kineto_error(f, offset, "dtype: \"%s\" is no known type", type != NULL ? type : "");
        return -1;
    }
    call->bytes = (in > out ? in : out) * bytes;
    call->uneven = call->kind == CALL_COLLECTIVE && call->op == COLL_ALL_TO_ALL &&
                   (splits_differ(args, "In split size") || splits_differ(args, "Out split size") ||
                    in != out);
    if (call->uneven)
        call->bytes = out * bytes;
    return 0;
}

static int peer_read(struct kineto_file *f, const json_t *args, uint64_t offset, struct call *call)
{
    const char *key = call->kind == CALL_SEND ? "Dst Rank" : "Src Rank";
    const json_t *peer = json_object_get(args, key);
    json_int_t rank = json_is_integer(peer) ? json_integer_value(peer) : -1;
    if (rank < 0 || rank >= RANKS_MOST) {
        kineto_error(f, offset, "%s: %s", key,
                     peer == NULL ? "is missing: the message has no peer" : "is no rank");
        return -1;
    }
    call->peer = (uint32_t)rank;
    return 0;
}

int kineto_call_read(struct kineto_file *f, const json_t *args, uint64_t offset, struct call *call)
{
    const char *word = json_string_value(json_object_get(args, "Collective name"));
    const json_t *sequence = json_object_get(args, "Seq");
    if (word == NULL)
        return 0;
    *call = (struct call){.offset = offset, .sequence = SEQUENCE_UNKNOWN};
    if (!call_word_read(word, call)) {
        kineto_error(f, offset, "Collective name: \"%.60s\" cannot be simulated", word);
        return -1;
    }
    if (sizes_read(f, args, offset, call) != 0 ||
        (call->kind != CALL_COLLECTIVE && peer_read(f, args, offset, call) != 0))
        return -1;
    if (json_is_integer(sequence))
        call->sequence = json_integer_value(sequence);
    call->group = group_read(f, args);
    return 1;
}
