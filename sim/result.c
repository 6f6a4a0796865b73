// SPDX-License-Identifier: MIT
// Frees and extends the texts and tables of a result.
#include "sim/result.h"

#include <stdlib.h>

#include "engine/memory.h"

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

void result_free(struct result *r)
{
    if (!r)
        return;
    free(r->reason);
    free_texts(r->waiting, r->n_waiting);
    free_texts(r->explain, r->n_explain);
    free_texts(r->deadlock, r->n_deadlock);
    for (size_t i = 0; i < r->n_pfc_ports; i++)
        free(r->pfc_ports[i].at);
    for (size_t i = 0; i < r->n_ports; i++)
        free(r->ports[i].at);
    for (size_t i = 0; i < r->n_switches; i++)
        free(r->switches[i].at);
    for (size_t i = 0; i < r->n_aggregators; i++)
        free(r->aggregators[i].at);
    free(r->aggregators);
    for (size_t i = 0; i < r->n_collectives; i++) {
        free(r->collectives[i].algorithm);
        critical_free(&r->collectives[i].critical);
        free(r->collectives[i].phases);
        free(r->collectives[i].dims);
    }
    for (size_t i = 0; i < r->n_slowest; i++) {
        free(r->slowest[i].name);
        free(r->slowest[i].layers);
        critical_free(&r->slowest[i].critical);
    }
    free(r->slowest);
    free(r->tcp);
    free(r->uec);
    free(r->admission);
    for (size_t i = 0; i < r->n_trainings; i++) {
        free(r->trainings[i].passes);
        free(r->trainings[i].layers);
        free(r->trainings[i].phases);
        free(r->trainings[i].use.share);
        free(r->trainings[i].use.mean);
    }
    free(r->trainings);
    for (size_t i = 0; i < r->n_programs; i++) {
        free(r->programs[i].uses);
        free(r->programs[i].layers);
        free(r->programs[i].late);
    }
    free(r->programs);
    for (size_t i = 0; i < r->n_ranks; i++)
        free(r->ranks[i].uses);
    free(r->ranks);
    for (size_t i = 0; i < r->n_jobs; i++) {
        free(r->jobs[i].servers ? r->jobs[i].servers->counts : NULL);
        free(r->jobs[i].servers);
    }
    free(r->jobs);
    free(r->slices);
    free(r->flows);
    free(r->collectives);
    free(r->explain_weights);
    free(r->reasons);
    free(r->pfc_ports);
    for (size_t i = 0; i < r->n_credit_ports; i++)
        free(r->credit_ports[i].at);
    free(r->credit_ports);
    for (size_t i = 0; i < r->n_nics; i++)
        free(r->nics[i].at);
    free(r->nics);
    free(r->ports);
    free(r->switches);
    free(r->captures);
    free(r);
}
