// SPDX-License-Identifier: MIT
// One pass over the file; what its parts say of each other is joined at the end.
#include "cli/import/kineto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import_folder.h"
#include "cli/import/kineto_internal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define GPUS_MOST 64

/* ---- members of the file's object ---- */

static void devices_read(struct kineto_file *f, const json_t *devices)
{
    const char *name = json_string_value(json_object_get(json_array_get(devices, 0), "name"));
    if (json_array_size(devices) <= GPUS_MOST &&
        json_array_size(devices) > f->recording->gpus_per_node)
        f->recording->gpus_per_node = (uint32_t)json_array_size(devices);
    if (name != NULL && name[0] != '\0')
        recording_named(f->recording, &f->recording->gpu, name, "GPUs");
}

static void distributed_read(struct kineto_file *f, const json_t *info, uint64_t offset)
{
    const json_t *rank = json_object_get(info, "rank"), *group;
    const json_t *world = json_object_get(info, "world_size");
    const char *backend = json_string_value(json_object_get(info, "backend"));
    const char *version = json_string_value(json_object_get(info, "nccl_version"));
    size_t i;
    if (json_is_integer(rank))
        f->number = json_integer_value(rank);
    if (json_is_integer(world) &&
        (json_integer_value(world) < 1 || json_integer_value(world) > RANKS_MOST))
        kineto_error(f, offset, "world_size: %" JSON_INTEGER_FORMAT " must be from 1 to %d",
                     json_integer_value(world), RANKS_MOST);
    else if (json_is_integer(world))
        f->world = json_integer_value(world);
    if (backend != NULL && strcmp(backend, "nccl") == 0)
        recording_named(f->recording, &f->recording->library, backend, "backends");
    if (version != NULL)
        recording_named(f->recording, &f->recording->library_version, version, "versions of NCCL");
    json_array_foreach(json_object_get(info, "pg_config"), i, group)
    {
        const char *name = json_string_value(json_object_get(group, "pg_name"));
        const char *description = json_string_value(json_object_get(group, "pg_desc"));
        if (name == NULL)
            continue;
        struct kineto_group *made = kineto_group_note(f, name, json_object_get(group, "ranks"));
        json_int_t size = json_integer_value(json_object_get(group, "pg_size"));
        if (made->description == NULL && description != NULL)
            made->description = memory_text(description);
        if (size > 0 && size <= RANKS_MOST)
            made->size = (uint32_t)size;
    }
}

static void member_read(struct kineto_file *f, const struct piece *piece)
{
    static const char *const used[] = {"distributedInfo", "deviceProperties",
                                       "baseTimeNanoseconds"};
    size_t which = 0;
    while (which < 3 && strcmp(piece->key, used[which]) != 0)
        which++;
    if (which == 3 || piece->text == NULL)
        return;
    json_t *json = piece_json(f->pieces, piece, f->recording->err);
    if (which == 0)
        distributed_read(f, json, piece->offset);
    else if (which == 1)
        devices_read(f, json);
    else if (which == 2 && json_is_integer(json) && json_integer_value(json) >= 0 &&
             json_integer_value(json) < TIME_MOST_NS)
        f->base_ns = json_integer_value(json);
    json_decref(json);
}

static void pieces_read(struct kineto_file *f)
{
    struct recording *r = f->recording;
    struct piece piece;
    while (!recording_is_full(r) && pieces_next(f->pieces, &piece, r->err) > 0) {
        if (piece.key != NULL && !piece.element) {
            member_read(f, &piece);
            continue;
        }
        if (piece.text == NULL) {
            kineto_error(f, piece.offset, "an event has more than %u MB", PIECE_MOST >> 20);
            continue;
        }
        f->any_event = true;
        if (!kineto_event_needed(&piece))
            continue;
        json_t *event = piece_json(f->pieces, &piece, r->err);
        if (event == NULL)
            break; // where values are wrong, so are their borders
        kineto_event_read(f, event, piece.offset);
        json_decref(event);
    }
}

/* ---- the end of the file ---- */

static int by_correlation(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

// The first launch of this correlation; NULL = none.
static const struct launch *launch_find(const struct kineto_file *f, uint64_t correlation)
{
    size_t low = 0, high = f->n_launches;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->launches[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->n_launches && f->launches[low].correlation == correlation ? &f->launches[low]
                                                                              : NULL;
}

static void launches_join(struct kineto_file *f)
{
    if (f->n_launches == 0)
        return;
    qsort(f->launches, f->n_launches, sizeof *f->launches, by_correlation);
    for (size_t e = 0; e < f->rank.n_events; e++) {
        struct gpu_event *event = &f->rank.events[e];
        const struct launch *launch = launch_find(f, event->correlation);
        if (launch != NULL)
            event->launch_ns = launch->ns;
    }
    for (size_t i = 0; i < f->n_undescribed; i++) {
        struct undescribed_event *u = &f->undescribed[i];
        const struct launch *launch = launch_find(f, f->rank.events[u->event].correlation);
        u->launch_ns = launch != NULL ? launch->ns : TIME_UNKNOWN;
        u->thread = launch != NULL ? launch->thread : 0;
    }
}

static int by_external(const void *a, const void *b)
{
    const struct described_call *x = a, *y = b;
    return (x->external > y->external) - (x->external < y->external);
}

// The call of a kernel that does not describe it: of the operation that launched it, or of the
// annotation around its launch. Returns 1; 0 = there is neither; -1 with an error.
static int description_find(struct kineto_file *f, const struct undescribed_event *u,
                            struct call *call)
{
    struct described_call key = {.external = u->external};
    const struct described_call *found =
        f->n_described > 0 ? bsearch(&key, f->described, f->n_described, sizeof key, by_external)
                           : NULL;
    if (found == NULL)
        return u->annotation != NULL ? kineto_annotation_call(f, u, call) : 0;
    *call = found->call;
    return 1;
}

static void descriptions_join(struct kineto_file *f)
{
    if (f->n_described > 1)
        qsort(f->described, f->n_described, sizeof *f->described, by_external);
    kineto_annotations_find(f);
    size_t missing = 0;
    uint64_t first = 0;
    for (size_t i = 0; i < f->n_undescribed && !recording_is_full(f->recording); i++) {
        const struct undescribed_event *u = &f->undescribed[i];
        struct call described;
        int found = description_find(f, u, &described);
        if (found == 0)
            first = missing++ == 0 || u->offset < first ? u->offset : first;
        if (found <= 0)
            continue;
        struct gpu_event *event = &f->rank.events[u->event];
        event->call = (uint32_t)f->rank.n_calls;
        struct call *call = rank_call(&f->rank);
        *call = described;
        call->offset = u->offset;
        call->start_ns = event->start_ns;
        call->end_ns = event->end_ns;
        call->measured_ns = event->end_ns - event->start_ns;
    }
    if (missing > 0)
        kineto_error(f, first,
                     "%zu kernels of NCCL, of which this is the first, have no \"Collective "
                     "name\", which PyTorch 2.4 and later write, and no nccl: annotation "
                     "encloses their launch",
                     missing);
}

static bool is_plain(const char *description)
{
    return description == NULL || description[0] == '\0' ||
           strcmp(description, "default_pg") == 0 || strcmp(description, "undefined") == 0;
}

// The group of the recording for a group of the file; UINT32_MAX with an error.
static uint32_t group_join(struct kineto_file *f, const struct kineto_group *group)
{
    uint32_t world = f->world > 0 ? (uint32_t)f->world : 0;
    uint32_t size = group->n_ranks > 0 ? group->n_ranks : group->size;
    bool whole = group->n_ranks == 0 && world > 0 && group->size == world;
    const char *before = group->world ? "" : group->name[0] == '[' ? "pg " : "pg";
    char *name = text_format("%s%s", before, group->name);
    uint32_t *ranks = memory_zeroed(size + 1, sizeof *ranks), index = UINT32_MAX;
    for (uint32_t m = 0; m < size; m++)
        ranks[m] = whole ? m : group->n_ranks > 0 ? group->ranks[m] : 0;
    if (group->n_ranks == 0 && !whole)
        kineto_error(f, 0, "process group %.40s: its ranks are not listed in full", group->name);
    else if (group->size > 0 && group->n_ranks > 0 && group->size != group->n_ranks)
        kineto_error(f, 0, "process group %.40s has %u ranks, and \"Group size\" %u", group->name,
                     group->n_ranks, group->size);
    else
        index =
            recording_group(f->recording, name,
                            is_plain(group->description) ? NULL : group->description, ranks, size);
    free(ranks);
    free(name);
    return index;
}

static void groups_join(struct kineto_file *f)
{
    uint32_t *index = memory_zeroed(f->n_groups + 1, sizeof *index);
    bool *used = memory_zeroed(f->n_groups + 1, sizeof *used);
    for (size_t c = 0; c < f->rank.n_calls; c++)
        used[f->rank.calls[c].group] = true;
    for (size_t g = 0; g < f->n_groups; g++)
        if (used[g])
            index[g] = group_join(f, &f->groups[g]);
    for (size_t c = 0; c < f->rank.n_calls; c++)
        f->rank.calls[c].group = index[f->rank.calls[c].group];
    for (size_t i = 0; i < f->rank.n_call_waits; i++) { // of a group without calls: of none
        uint32_t *group = &f->rank.call_waits[i].group;
        *group = used[*group] ? index[*group] : UINT32_MAX;
    }
    free(used);
    free(index);
}

static void base_add(struct kineto_file *f)
{
    for (size_t e = 0; e < f->rank.n_events; e++) {
        struct gpu_event *event = &f->rank.events[e];
        event->start_ns += f->base_ns;
        event->end_ns += f->base_ns;
        event->launch_ns += event->launch_ns != TIME_UNKNOWN ? f->base_ns : 0;
    }
    for (size_t c = 0; c < f->rank.n_calls; c++) {
        f->rank.calls[c].start_ns += f->base_ns;
        f->rank.calls[c].end_ns += f->base_ns;
    }
    for (size_t s = 0; s < f->rank.n_steps; s++) {
        f->rank.steps[s].start_ns += f->base_ns;
        f->rank.steps[s].end_ns += f->base_ns;
    }
    for (size_t i = 0; i < f->rank.n_call_waits; i++)
        f->rank.call_waits[i].at_ns += f->base_ns;
    for (size_t h = 0; h < f->rank.n_host_waits; h++) {
        f->rank.host_waits[h].start_ns += f->base_ns;
        f->rank.host_waits[h].end_ns += f->base_ns;
    }
}

void kineto_file_end(struct kineto_file *f, bool broken)
{
    struct recording *r = f->recording;
    if (f->number < 0)
        f->number = path_rank(f->path);
    struct rank_recording *rank = recording_rank(r, f->number);
    if (rank == NULL) {
        if (!broken)
            err_add(r->err, f->path,
                    "no rank: distributedInfo.rank is missing, and the file's name has no "
                    "\"rank0\"");
        return;
    }
    if (rank->path != NULL) {
        err_add(r->err, f->path,
                "rank %" PRId64 " is that of %s too: of several runs import the files of one",
                f->number, rank->path);
        return;
    }
    if (f->world > 0 && r->world_given && r->world != (uint32_t)f->world)
        err_add(r->err, f->path,
                "world_size %" PRId64 ", and --ranks %u: collwire synth makes a job of other "
                "sizes from an imported one",
                f->world, r->world);
    else if (f->world > 0 && r->world > 0 && r->world != (uint32_t)f->world)
        err_add(r->err, f->path,
                "world_size %" PRId64 ", and %u in another file: traces of different jobs",
                f->world, r->world);
    if (f->world > 0 && r->world == 0)
        r->world = (uint32_t)f->world;
    if (f->world < 1 && r->world_given)
        f->world = r->world;
    size_t errors = r->err->n_errors;
    if (!broken) {
        launches_join(f);
        descriptions_join(f);
        groups_join(f);
        base_add(f);
    }
    f->rank.path = memory_text(f->path);
    f->rank.broken = broken || r->err->n_errors > errors;
    *rank = f->rank;
    f->rank = (struct rank_recording){0};
    if (rank->broken)
        rank_drop(rank);
    else if (rank->n_nodes == 0)
        recording_end_rank(r, (uint32_t)f->number);
}

void kineto_file_free(struct kineto_file *f)
{
    for (size_t g = 0; g < f->n_groups; g++) {
        free(f->groups[g].name);
        free(f->groups[g].description);
        free(f->groups[g].ranks);
    }
    free(f->groups);
    free(f->launches);
    free(f->described);
    free(f->undescribed);
    free(f->annotations);
    rank_free(&f->rank);
    pieces_close(f->pieces);
}

void kineto_read(struct recording *r, const char *path)
{
    static const char *const lists[] = {"traceEvents", NULL};
    struct kineto_file f = {.recording = r, .path = path, .number = -1, .world = -1};
    size_t errors = r->err->n_errors;
    f.rank.begin_ns = TIME_UNKNOWN;
    f.pieces = pieces_open(path, lists, r->err);
    if (f.pieces == NULL)
        return;
    pieces_read(&f);
    if (r->err->n_errors == errors && !f.any_event)
        err_add(r->err, path, "has no traceEvents");
    kineto_file_end(&f, r->err->n_errors > errors);
    kineto_file_free(&f);
}
