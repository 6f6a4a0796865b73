// SPDX-License-Identifier: MIT
// One process per rank (and per job, if there are several) and one for the critical path, one
// thread for its loop and one per lane of a dimension; a job of collectives alone is one process
// with a thread for the collectives and one per dimension. Complete events ("X") with ts and dur in
// us, and names of processes and threads ("M").
// Source: Trace Event Format (Duca, Sinclair).
#include "report/metrics.h"

#include <inttypes.h>
#include <stdio.h>

#define RANK_BITS 16 // bits of the rank in a process number

static void put_string(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
}

static uint32_t process_of(const struct slice_result *s)
{
    return s->job << RANK_BITS | (s->rank & ((1u << RANK_BITS) - 1));
}

// Write the beginning of an event. put_process() and put_thread() end their events with a comma,
// since another event always follows.
static void put_place(FILE *out, const char *ph, const struct slice_result *s)
{
    fprintf(out, "\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,", ph, process_of(s), s->lane);
}

static void put_process(FILE *out, const struct result *r, const struct slice_result *s)
{
    put_place(out, "M", s);
    fputs("\"name\":\"process_name\",\"args\":{\"name\":\"", out);
    for (size_t i = 0; r->n_trainings > 1 && i < r->n_trainings; i++)
        if (r->trainings[i].job == s->job) {
            put_string(out, r->trainings[i].name);
            fputc(' ', out);
        }
    if (s->rank == SLICE_PATH)
        fputs("critical path\"}},", out);
    else if (s->rank == SLICE_COLLECTIVES)
        fputs("all ranks\"}},", out);
    else
        fprintf(out, "rank%u\"}},", s->rank);
}

static void put_thread(FILE *out, const struct slice_result *s)
{
    uint32_t lane = s->lane & ((1u << SLICE_LANE_BITS) - 1);
    put_place(out, "M", s);
    fputs("\"name\":\"thread_name\",\"args\":{\"name\":\"", out);
    if (s->rank == SLICE_PATH)
        fputs("layers", out);
    else if (s->stream)
        fprintf(out, lane == 0 ? "%s" : "%s, %u at once", s->stream, lane + 1);
    else if (!s->op)
        fputs("loop", out);
    else if (lane == 0)
        fprintf(out, "dim%u", s->dim);
    else
        fprintf(out, "dim%u, %u at once", s->dim, lane + 1);
    fputs("\"}},", out);
}

static void put_us(FILE *out, const char *key, ps_t ps)
{
    fprintf(out, "\"%s\":%" PRId64 ".%06" PRId64 ",", key, ps / PS_PER_US, ps % PS_PER_US);
}

static void put_slice(FILE *out, const struct slice_result *s)
{
    put_place(out, "X", s);
    put_us(out, "ts", s->begin_ps);
    put_us(out, "dur", s->end_ps - s->begin_ps);
    fprintf(out, "\"cat\":\"%s\",\"name\":\"",
            s->op || s->communicates ? "comm"
            : s->wait                ? "wait"
                                     : "compute");
    if (s->wait)
        fputs("wait ", out);
    put_string(out, s->layer);
    if (s->part)
        fprintf(out, " %s", s->part);
    if (s->channel > 0)
        fprintf(out, ", channel %u", s->channel - 1);
    if (s->op)
        fprintf(out, " %s dim%u chunk %u", s->op, s->dim, s->chunk);
    fputs("\"}", out); // the caller writes the comma
}

bool timeline_json(FILE *out, const struct result *r)
{
    if (!r->timeline)
        return false;
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"scenario\":\"", out);
    put_string(out, r->name);
    fprintf(out, "\",\"complete\":%s},\"traceEvents\":[", r->timeline_cut ? "false" : "true");
    for (size_t i = 0; i < r->n_slices; i++) {
        const struct slice_result *s = &r->slices[i], *before = i > 0 ? s - 1 : NULL;
        bool new_process = !before || process_of(before) != process_of(s);
        if (new_process)
            put_process(out, r, s);
        if (new_process || before->lane != s->lane)
            put_thread(out, s);
        put_slice(out, s);
        fputs(i + 1 < r->n_slices ? "," : "", out);
    }
    fputs("\n]}\n", out);
    return true;
}
