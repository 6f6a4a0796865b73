// SPDX-License-Identifier: MIT
// The same results of several processes as of one, on random scenarios. The processes are threads
// of this program.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/simulation.h"
#include "tests/support/random.h"

#define PROCESSES_MAX 8

struct group {
    uint32_t n;
    pthread_barrier_t barrier;
    struct collwire_bytes out[PROCESSES_MAX][PROCESSES_MAX];
};
struct process {
    struct group *group;
    struct collwire_processes all;
    void *copy[PROCESSES_MAX];
    uint64_t seed; int feature; uint32_t threads, tiles;
    struct fixture *f;
    uint64_t calls, bytes;
};

static uint32_t exchange(void *ctx, const struct collwire_bytes *out, struct collwire_bytes *in)
{
    struct process *s = ctx;
    struct group *g = s->group;
    uint32_t rank = s->all.rank;
    s->calls++;
    memcpy(g->out[rank], out, g->n * sizeof *out);
    pthread_barrier_wait(&g->barrier);
    for (uint32_t q = 0; q < g->n; q++) {
        if (q == rank) continue;
        size_t n = g->out[q][rank].n;
        free(s->copy[q]);
        s->copy[q] = malloc(n + 8);
        if (n > 0) memcpy(s->copy[q], g->out[q][rank].data, n);
        in[q] = (struct collwire_bytes){s->copy[q], n};
        s->bytes += n;
    }
    pthread_barrier_wait(&g->barrier);
    return 0;
}

static void *simulate(void *arg)
{
    struct process *s = arg;
    struct err err = {0};
    s->f = malloc(sizeof *s->f);
    if (s->feature >= 0) random_feature(s->f, s->seed, (enum random_feature)s->feature);
    else if (s->seed % 3 == 0) random_bounds(s->f, s->seed);
    else random_any(s->f, s->seed);
    s->f->sim = sim_new(&s->f->spec, &err);
    err_free(&err);
    sim_set_threads(s->f->sim, s->threads);
    sim_set_tiles(s->f->sim, s->tiles);
    s->f->sim->parallel.always_together = true;
    if (s->group && sim_set_processes(s->f->sim, &s->all, &err) < 0) { err_free(&err); sim_set_processes(s->f->sim, NULL, &err); }
    sim_run(s->f->sim, NULL);
    return NULL;
}
static int by_post(const void *a, const void *b)
{
    const struct flow_record *x = a, *y = b;
    if (x->start_ps != y->start_ps) return x->start_ps < y->start_ps ? -1 : 1;
    if (x->src != y->src) return x->src < y->src ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}
static void sorted(struct records *r) { if (r->n_flows) qsort(r->flows, r->n_flows, sizeof *r->flows, by_post);
  for (size_t i = 0; i < r->n_flows; i++) { r->flows[i].qp = 0; if (r->flows[i].status == 2) r->flows[i].delivered_bytes = 0; } }

static int compare(uint64_t seed, int feature, uint32_t n, uint32_t threads, uint32_t tiles, int *divided)
{
    struct process one = {.seed = seed, .feature = feature, .threads = 1, .tiles = 1}, p[PROCESSES_MAX];
    struct group g = {.n = n};
    pthread_t id[PROCESSES_MAX];
    int bad = 0;
    simulate(&one);
    pthread_barrier_init(&g.barrier, NULL, n);
    memset(p, 0, sizeof p);
    for (uint32_t i = 0; i < n; i++) {
        p[i] = (struct process){.group = &g, .seed = seed, .feature = feature, .threads = threads, .tiles = tiles};
        p[i].all = (struct collwire_processes){.n = n, .rank = i, .exchange = exchange, .ctx = &p[i]};
        pthread_create(&id[i], NULL, simulate, &p[i]);
    }
    for (uint32_t i = 0; i < n; i++) pthread_join(id[i], NULL);
    *divided += p[0].f->sim->fabric.partition != NULL;
    struct records *a = &one.f->sim->delivery.records;
    sorted(a);
    for (uint32_t i = 0; i < n; i++) {
        struct sim *s = p[i].f->sim;
        struct records *b = &s->delivery.records;
        sorted(b);
        size_t k = 0;
        while (k < a->n_flows && k < b->n_flows && memcmp(&a->flows[k], &b->flows[k], sizeof *a->flows) == 0) k++;
        if (a->n_flows != b->n_flows || k < a->n_flows || s->end != one.f->sim->end || s->workload.over_ps != one.f->sim->workload.over_ps
            || s->fabric.engine.now_ps != one.f->sim->fabric.engine.now_ps || engine_model_events(&s->fabric.engine) != engine_model_events(&one.f->sim->fabric.engine)) {
            print_error("seed %llu feature %d n %u threads %u tiles %u process %u: records %zu %zu, first other %zu, end %d %d over %lld %lld now %lld %lld events %llu %llu stopped %d %d failed %llu\n", (unsigned long long)seed, feature, n, threads, tiles, i, a->n_flows, b->n_flows, k, one.f->sim->end, s->end,
              (long long)one.f->sim->workload.over_ps, (long long)s->workload.over_ps, (long long)one.f->sim->fabric.engine.now_ps, (long long)s->fabric.engine.now_ps,
              (unsigned long long)engine_model_events(&one.f->sim->fabric.engine), (unsigned long long)engine_model_events(&s->fabric.engine), one.f->sim->stalled, s->stalled, (unsigned long long)a->failed);
            if (k < a->n_flows && k < b->n_flows) { const struct flow_record *x = &a->flows[k], *y = &b->flows[k];
              print_error("   src %u dst %u id %llu: fct %lld %lld delivered %lld %lld start %lld %lld packets %u %u status %d %d\n", x->src, x->dst, (unsigned long long)x->id, (long long)x->fct_ps, (long long)y->fct_ps, (long long)x->delivered_ps, (long long)y->delivered_ps, (long long)x->start_ps, (long long)y->start_ps, (unsigned)x->packets, (unsigned)y->packets, x->status, y->status);
              for (int c = 0; c < PATH_CAUSES; c++) if (x->life_ps[c] != y->life_ps[c]) print_error("   life %d: %lld %lld\n", c, (long long)x->life_ps[c], (long long)y->life_ps[c]);
              for (size_t o = 0; o < sizeof *x; o++) if (((const char *)x)[o] != ((const char *)y)[o]) { print_error("   byte %zu of %zu\n", o, sizeof *x); break; } }
            bad = 1;
            break;
        }
    }
    fixture_free(one.f); free(one.f);
    for (uint32_t i = 0; i < n; i++) { fixture_free(p[i].f); free(p[i].f); for (uint32_t q = 0; q < n; q++) free(p[i].copy[q]); }
    return bad;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 50;
    int feature = argc > 3 ? atoi(argv[3]) : -1, bad = 0, divided = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        if (getenv("V")) { printf("seed %llu\n", (unsigned long long)seed); fflush(stdout); }
        bad += compare(seed, feature, (uint32_t)(2 + seed % 3), (uint32_t)(seed % 12 == 0 ? 2 : 1), (uint32_t)(seed % 2), &divided);
    }
    printf("%d of %llu differ, %d divided\n", bad, (unsigned long long)count, divided);
    return bad > 0;
}
