// SPDX-License-Identifier: MIT
// Messages of Open MPI's processes in the network.
#include <stdlib.h>
#include <string.h>

#include "collective/executor/executor_mpi_internal.h"
#include "engine/base/memory.h"

/* ---- pools ---- */

struct mpi_task *mpi_task_new(struct executor *l)
{
    struct mpi_task *task = memory_zeroed(1, sizeof *task);
    task->next_all = l->mpi.all_tasks;
    return l->mpi.all_tasks = task;
}

struct core_thread *mpi_process_of(struct executor *l, uint32_t node)
{
    struct mpi_library *x = &l->mpi;
    if (node >= x->n_processes) {
        uint32_t n = node + 1 > 2 * x->n_processes ? node + 1 : 2 * x->n_processes;
        x->processes = memory_resize(x->processes, n, sizeof(struct mpi_process *));
        memset(x->processes + x->n_processes, 0,
               (n - x->n_processes) * sizeof(struct mpi_process *));
        x->n_processes = n;
    }
    if (x->processes[node] == NULL) {
        x->processes[node] = memory_zeroed(1, sizeof(struct mpi_process));
        core_thread_init(&x->processes[node]->thread, l->env.cores, node);
        x->processes[node]->thread.keeps = true;
    }
    return &x->processes[node]->thread;
}

void mpi_executor_free(struct executor *l)
{
    struct mpi_library *x = &l->mpi;
    while (x->all_tasks != NULL) {
        struct mpi_task *task = x->all_tasks;
        x->all_tasks = task->next_all;
        free(task);
    }
    for (uint32_t i = 0; i < x->n_processes; i++) {
        if (x->processes[i] != NULL)
            core_thread_end(&x->processes[i]->thread);
        free(x->processes[i]);
    }
    free(x->processes);
    free(x->messages);
    slots_free(&x->numbers);
}

/* ---- messages ---- */

static void post(struct mpi_member *m, enum mpi_part part, uint32_t to, uint32_t number,
                 uint64_t bytes, uint64_t wire_bytes, ps_t now)
{
    struct executor_run *run = m->run;
    struct executor *l = run->group->library;
    const struct executor_env *env = run_env(run);
    bool data = part == MPI_PART_EAGER || part == MPI_PART_DATA;
    uint32_t slot = slots_take(&l->mpi.numbers, l->mpi.messages);
    l->mpi.messages[slot] = (struct mpi_message){.run = run,
                                                 .src = m->number,
                                                 .dst = to,
                                                 .number = number,
                                                 .bytes = bytes,
                                                 .part = (uint8_t)part,
                                                 .left = !data};
    struct transfer_request request = {.src = run_node(run, m->number),
                                       .dst = run_node(run, to),
                                       .bytes = wire_bytes,
                                       .job = env->job,
                                       .cls = env->cls,
                                       .transport = env->transport,
                                       .joined = true,
                                       .unrecorded = !data,
                                       .token = env->token | EXECUTOR_TOKEN_MPI | slot};
    run->open++;
    m->sends_open += data;
    tally_add(env->messages, 1);
    if (data) {
        const struct executor_request *r = &run->request;
        request.origin = (struct message_origin){.op = r->op,
                                                 .name = r->name,
                                                 .communicator = run->group->index,
                                                 .collective = r->step,
                                                 .step = m->step};
        env->posted(env->ctx, run->ctx, request.src, wire_bytes, now);
    }
    l->mpi.posting = slot;
    l->mpi.is_posting = true;
    env->transfer->post(env->transfer->net, &request, now);
    l->mpi.is_posting = false;
}

void mpi_send(struct mpi_member *m, uint32_t to, uint32_t number, uint64_t bytes, ps_t now)
{
    const struct mpi_settings *s = run_spec(m->run)->mpi;
    if (mpi_is_eager(s, bytes)) {
        post(m, MPI_PART_EAGER, to, number, bytes, mpi_wire_bytes(s, bytes), now);
        return;
    }
    m->sends_open++; // until the data has left
    post(m, MPI_PART_REQUEST, to, number, bytes, MPI_REQUEST_BYTES, now);
}

void mpi_send_data(struct mpi_member *m, uint32_t to, uint32_t number, uint64_t bytes, ps_t now)
{
    const struct mpi_settings *s = run_spec(m->run)->mpi;
    m->sends_open--; // post() counts it
    post(m, MPI_PART_DATA, to, number, bytes, mpi_wire_bytes(s, bytes), now);
}

void mpi_answer(struct mpi_member *m, uint32_t number, uint32_t to, ps_t now)
{
    uint64_t bytes = m->receives[number].bytes;
    post(m, MPI_PART_ANSWER, to, number, bytes, MPI_ANSWER_BYTES, now);
}

// Frees the entry of a message that has been handled and acknowledged.
static void forget(struct executor *l, uint32_t slot)
{
    const struct mpi_message *x = &l->mpi.messages[slot];
    if (!x->sent || !x->handled)
        return;
    struct executor_run *run = x->run;
    slots_give(&l->mpi.numbers, slot);
    run->open--;
    run_release(run);
}

void mpi_message_handled(struct executor_run *run, uint32_t message)
{
    struct executor *l = run->group->library;
    l->mpi.messages[message].handled = true;
    forget(l,
           message); // does not free the run: the task that called this counts as open work of it
}

static uint32_t slot_of(uint64_t token) { return (uint32_t)token; }

void mpi_delivered(struct executor *l, uint64_t token, ps_t now)
{
    static mpi_task_call *const calls[] = {[MPI_PART_EAGER] = mpi_on_data,
                                           [MPI_PART_REQUEST] = mpi_on_request,
                                           [MPI_PART_ANSWER] = mpi_on_answer,
                                           [MPI_PART_DATA] = mpi_on_data};
    uint32_t slot = slot_of(token);
    const struct mpi_message *x = &l->mpi.messages[slot];
    struct executor_run *run = x->run;
    const struct executor_env *env = run_env(run);
    struct mpi_member *m = &run->mpi->members[x->dst];
    if (x->part == MPI_PART_EAGER || x->part == MPI_PART_DATA)
        env->arrived(env->ctx, run->ctx, now);
    if (x->part == MPI_PART_REQUEST)
        m->receives[x->number].bytes = x->bytes;
    mpi_process_run(m, calls[x->part], slot, run_spec(run)->mpi->event_ps, now);
}

// The message has left its process. Within post() that is part of the call, which does not block;
// later it is a notice that the process has to handle.
static void leave(struct executor *l, uint32_t slot, ps_t now)
{
    struct mpi_message *x = &l->mpi.messages[slot];
    if (x->left)
        return;
    x->left = true;
    struct mpi_member *m = &x->run->mpi->members[x->src];
    if (l->mpi.is_posting && l->mpi.posting == slot)
        m->sends_open--;
    else
        mpi_process_run(m, mpi_on_left, slot, run_spec(x->run)->mpi->event_ps, now);
}

void mpi_entered(struct executor *l, uint64_t token, ps_t now) { leave(l, slot_of(token), now); }

void mpi_sent(struct executor *l, uint64_t token, ps_t now)
{
    uint32_t slot = slot_of(token);
    leave(l, slot, now);
    l->mpi.messages[slot].sent = true;
    forget(l, slot);
}
