// SPDX-License-Identifier: MIT
// Frees and extends the texts and tables of a result.
#include "sim/result/result.h"

#include <stdlib.h>

#include "engine/base/memory.h"

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void critical_free(struct critical_result *c)
{
    for (size_t i = 0; i < c->n_places; i++)
        free(c->places[i].at);
    free(c->places);
}

static void fabric_free(struct result *r)
{
    for (size_t i = 0; i < r->n_pfc_ports; i++)
        free(r->pfc_ports[i].at);
    for (size_t i = 0; i < r->n_credit_ports; i++)
        free(r->credit_ports[i].at);
    for (size_t i = 0; i < r->n_ports; i++)
        free(r->ports[i].at);
    for (size_t i = 0; i < r->n_switches; i++)
        free(r->switches[i].at);
    for (size_t i = 0; i < r->n_aggregators; i++)
        free(r->aggregators[i].at);
    for (size_t i = 0; i < r->n_nics; i++)
        free(r->nics[i].at);
    free(r->pfc_ports);
    free(r->credit_ports);
    free(r->ports);
    free(r->switches);
    free(r->aggregators);
    free(r->nics);
    free(r->tcp);
    free(r->uec);
    free(r->admission);
    free(r->hybrid);
}

static void jobs_free(struct result *r)
{
    for (size_t i = 0; i < r->n_trainings; i++) {
        free(r->trainings[i].passes);
        for (size_t l = 0; l < r->trainings[i].n_layers; l++)
            free(r->trainings[i].layers[l].delays);
        free(r->trainings[i].layers);
        free(r->trainings[i].chunk_ps);
        free(r->trainings[i].phases);
        free(r->trainings[i].use.share);
        free(r->trainings[i].use.mean);
    }
    for (size_t i = 0; i < r->n_programs; i++) {
        free(r->programs[i].uses);
        free(r->programs[i].layers);
        free(r->programs[i].late);
    }
    for (size_t i = 0; i < r->n_ranks; i++)
        free(r->ranks[i].uses);
    for (size_t i = 0; i < r->n_jobs; i++) {
        free(r->jobs[i].servers ? r->jobs[i].servers->counts : NULL);
        free(r->jobs[i].servers);
    }
    free(r->memory.classes);
    free(r->memory.steps);
    free(r->trainings);
    free(r->measured_collectives.list);
    free(r->measured_collectives.sizes);
    free(r->against.file);
    free(r->against.rows);
    free(r->against.ranks);
    free(r->programs);
    free(r->ranks);
    free(r->jobs);
}

void result_free(struct result *r)
{
    if (!r)
        return;
    free(r->reason);
    free_texts(r->waiting, r->n_waiting);
    free_texts(r->explain, r->n_explain);
    free_texts(r->deadlock, r->n_deadlock);
    for (size_t i = 0; i < r->n_collectives; i++) {
        free(r->collectives[i].algorithm);
        critical_free(&r->collectives[i].critical);
        free(r->collectives[i].phases);
        free(r->collectives[i].dims);
    }
    for (size_t i = 0; i < r->n_slowest; i++) {
        free(r->slowest[i].name);
        free(r->slowest[i].layers);
        free(r->slowest[i].iterations);
        critical_free(&r->slowest[i].critical);
    }
    fabric_free(r);
    jobs_free(r);
    free(r->slowest);
    free(r->slices);
    free(r->flows);
    free(r->summary.fct_ns_bins.bins);
    free(r->summary.slowdown_bins.bins);
    free(r->collectives);
    free(r->explain_weights);
    for (size_t i = 0; i < r->n_reasons; i++) {
        free(r->reasons[i].at);
        free(r->reasons[i].seen);
        free(r->reasons[i].change);
        free_texts(r->reasons[i].set, r->reasons[i].n_set);
    }
    free(r->reasons);
    free(r->captures);
    free(r->plugins);
    free(r);
}
