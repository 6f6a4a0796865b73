// SPDX-License-Identifier: MIT
// The state while a file of Kineto is read.
#pragma once

#include <jansson.h>

#include "cli/import/import_pieces.h"
#include "cli/import/recording.h"

// A process group as the file names it.
struct kineto_group {
    char *name, *description;
    uint32_t *ranks, n_ranks; // n_ranks = 0: not listed in full
    uint32_t size;
    bool world; // not named by the file: all ranks of the job
};

struct launch {
    uint64_t correlation, thread;
    int64_t ns;
};

struct kineto_span { // of an event on a thread of the CPU
    int64_t start_ns, end_ns;
    uint64_t thread, offset;
};

enum annotation_problem {
    ANNOTATION_GOOD,
    ANNOTATION_WORD,
    ANNOTATION_PEER,
    ANNOTATION_NO_SIZES,
    ANNOTATION_TYPE,
    ANNOTATION_DIMS
};

struct annotation { // nccl:all_reduce
    struct kineto_span span;
    int64_t external; // 0 = none
    struct call call; // without a group
    enum annotation_problem problem;
    uint32_t n_kernels; // that it launches
    char word[32];      // behind "nccl:"
};

struct described_call { // by a record_param_comms
    int64_t external;
    struct call call;
};

struct undescribed_event { // a kernel of NCCL without a description of its own
    uint32_t event;
    int64_t external, launch_ns;
    uint64_t offset, thread; // the thread that launched it
    enum coll_op kernel_op;  // by its name; COLL_OPS = not known
    struct annotation *annotation;
};

struct kineto_file {
    struct recording *recording;
    const char *path;
    struct pieces *pieces;
    struct rank_recording rank;     // made here, since the rank may be named last
    int64_t number, world, base_ns; // number, world: -1 = not named
    struct kineto_group *groups;
    size_t n_groups, cap_groups;
    struct launch *launches;
    size_t n_launches, cap_launches;
    struct described_call *described;
    size_t n_described, cap_described;
    struct undescribed_event *undescribed;
    size_t n_undescribed, cap_undescribed;
    struct annotation *annotations;
    size_t n_annotations, cap_annotations;
    bool any_event;
};

// Read the description of a collective or message in `args` into *call, whose group is an index
// into the file's groups. Returns 1; 0 if it has none; -1 with an error at `offset`.
int kineto_call_read(struct kineto_file *f, const json_t *args, uint64_t offset, struct call *call);

// Note the ranks of a process group; `ranks` is a list or its text.
struct kineto_group *kineto_group_note(struct kineto_file *f, const char *name,
                                       const json_t *ranks);

// Note an annotation of the program, "nccl:all_reduce".
bool kineto_is_annotation(const char *name);
void kineto_annotation_note(struct kineto_file *f, const char *name, const json_t *args,
                            const struct kineto_span *span);

// Find the annotation of each undescribed kernel, whose launches are known; sorts both lists.
void kineto_annotations_find(struct kineto_file *f);

// The call of a kernel by its annotation. Returns 1, or -1 with an error.
int kineto_annotation_call(struct kineto_file *f, const struct undescribed_event *u,
                           struct call *call);

// False if no field of the event is used; most events of a trace are such, and are not parsed.
bool kineto_event_needed(const struct piece *piece);

// The description of a call that a graph of the process has, with the keys of `args`; NULL = none.
// The process groups of the graph are noted.
const json_t *kineto_graph_call(struct kineto_file *f, json_int_t pid, json_int_t function);

// The same from a node of such a graph, to be released, and its id; the process groups that a node
// lists, to be released, NULL = it lists none; and one of these noted in the file.
json_t *kineto_graph_args(const json_t *node, json_int_t *id);
json_t *kineto_graph_groups(const json_t *node);
void kineto_graph_group(struct kineto_file *f, const json_t *group);

// Everything is read: join what the parts say of each other, and make it a rank of the recording.
// Nodes that are there already are kept as they are. kineto_file_free() the rest.
void kineto_file_end(struct kineto_file *f, bool broken);
void kineto_file_free(struct kineto_file *f);

void kineto_event_read(struct kineto_file *f, const json_t *event, uint64_t offset);

__attribute__((format(printf, 3, 4))) void kineto_error(struct kineto_file *f, uint64_t offset,
                                                        const char *format, ...);
