// SPDX-License-Identifier: MIT
// Simulation specs for tests.
#include "tests/support/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cc/registry.h"

void fixture_kind(struct dim_spec *dim, const char *topology)
{
    dim->kind = topology_find(topology);
    assert_non_null(dim->kind);
    params_default(dim->kind->params, dim->kind->n_params, dim->params);
}

static void start_spec(struct fixture *f, const char *topology, uint32_t ranks,
                       struct link_spec link)
{
    memset(f, 0, sizeof *f);
    struct spec *spec = &f->spec;
    struct dim_spec *dim = &spec->dims[0];
    spec->name = "test";
    spec->seed = 1;
    spec->n_dims = 1;
    spec->duration_ps = PS_NEVER;
    spec->limits = (struct limits_spec){.sim_time_ps = PS_NEVER, .stall_ps = 100 * PS_PER_MS};
    spec->report.flows_max = 10000;
    spec->report.collectives_max = 10000;
    spec->jobs = f->jobs;
    fixture_kind(dim, topology);
    dim->size = ranks;
    dim->links[0] = link;
    params_default(switch_params, n_switch_params, &dim->sw);
    params_default(queue_limit_params, n_queue_limit_params, &dim->sw.queue_limit);
    params_default(trimming_params, n_trimming_params, &dim->sw.trimming);
    params_default(pfc_params, n_pfc_params, &dim->sw.pfc);
    params_default(ecn_params, n_ecn_params, &dim->sw.ecn);
    params_default(routing_params, n_routing_params, &dim->sw.routing);
    params_default(reduction_params, n_reduction_params, &dim->sw.reduction);
    for (unsigned cls = 0; cls < SWITCH_CLASSES; cls++)
        params_default(class_params, n_class_params, &dim->sw.classes[cls]);
    dim->sw.ecn.mode = ECN_AUTO;
    nic_spec_init(&dim->nic, &nic_presets[0]);
    dim->n_stacks = 1;
    transport_spec_init(&dim->transport, transport_registry[0]);
    dim->transport.overhead = OVERHEAD_ETHERNET;
    fixture_cc(f, "none", NULL, NULL);
}

void fixture_switch(struct fixture *f, uint32_t ranks, uint64_t rate_bps, ps_t delay_ps)
{
    start_spec(f, "switch", ranks, (struct link_spec){.rate_bps = rate_bps, .delay_ps = delay_ps});
}

void fixture_direct(struct fixture *f, const char *kind, uint32_t ranks, uint64_t rate_bps,
                    ps_t delay_ps)
{
    start_spec(f, kind, ranks, (struct link_spec){.rate_bps = rate_bps, .delay_ps = delay_ps});
}

void fixture_leaf_spine(struct fixture *f, uint32_t ranks, uint32_t per_leaf, uint32_t spines,
                        struct link_spec link, struct link_spec trunk)
{
    char text[16];
    struct err err = {0};
    start_spec(f, "leaf_spine", ranks, link);
    struct dim_spec *dim = &f->spec.dims[0];
    snprintf(text, sizeof text, "%u", per_leaf);
    const struct topology_kind *kind = dim->kind;
    struct param in_leaf = param_find(kind->params, kind->n_params, "ranks_per_leaf"),
                 n_spines = param_find(kind->params, kind->n_params, "spines");
    param_set(&in_leaf, dim->params, text, "ranks_per_leaf", &err);
    snprintf(text, sizeof text, "%u", spines);
    param_set(&n_spines, dim->params, text, "spines", &err);
    assert_int_equal(err.n_errors, 0);
    dim->links[1] = trunk;
}

void fixture_cc(struct fixture *f, const char *name, const char *preset, ...)
{
    struct dim_spec *dim = &f->spec.dims[0];
    struct err err = {0};
    dim->cc = cc_find(name);
    assert_non_null(dim->cc);
    dim->cc_preset = cc_preset_find(dim->cc, preset);
    assert_non_null(dim->cc_preset);
    assert_true(dim->cc->params_bytes <= sizeof dim->cc_params);
    assert_int_equal(cc_params_init(dim->cc, preset, dim->cc_params), 0);
    va_list args;
    va_start(args, preset);
    for (const char *pair; (pair = va_arg(args, const char *)) != NULL;) {
        char key[64];
        const char *equals = strchr(pair, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - pair), pair);
        struct param param = param_find(dim->cc->params, dim->cc->n_params, key);
        assert_non_null(param.name);
        assert_int_equal(param_set(&param, dim->cc_params, equals + 1, key, &err), 0);
    }
    va_end(args);
}

void fixture_flow_job(struct fixture *f, size_t job, const char *name, unsigned cls, size_t first,
                      size_t n)
{
    f->lists[job] = (struct flows_settings){{&f->flows[first], n, FLOW_OWN}, "", 0};
    f->jobs[job] = (struct job_spec){
        .kind = &flows_kind, .name = name, .cls = cls, .settings = &f->lists[job]};
}

void fixture_flow(struct fixture *f, uint32_t src, uint32_t dst, uint64_t bytes, ps_t start_ps)
{
    struct flow_list *list = &f->lists[0].list;
    assert_true(list->n < sizeof f->flows / sizeof *f->flows);
    list->flows = f->flows;
    f->jobs[0].kind = &flows_kind;
    f->jobs[0].name = "flows";
    f->jobs[0].cls = NET_CLASS_DATA;
    f->jobs[0].settings = &f->lists[0];
    f->flows[list->n++] = (struct raw_flow){src, dst, bytes, start_ps, 0};
    f->spec.n_jobs = 1;
}

void fixture_collective(struct fixture *f, enum coll_op op, const char *algorithm, uint64_t bytes,
                        uint64_t chunks)
{
    uint32_t ranks = 1;
    for (uint32_t d = 0; d < f->spec.n_dims; d++)
        ranks *= f->spec.dims[d].size;
    assert_non_null(coll_find(algorithm));
    f->collectives[0] = (struct collective_settings){
        .params = {.op = (int)op, .bytes = bytes, .repeat = 1},
        .schedule = {.n_dims = 1, .dim_size = {ranks}, .chunks = chunks}};
    for (unsigned o = 0; o < COLL_OPS; o++)
        f->collectives[0].schedule.choice[o][0] = coll_choice_of(coll_find(algorithm));
    f->jobs[0] = (struct job_spec){.kind = &collective_kind,
                                   .name = "coll",
                                   .cls = NET_CLASS_DATA,
                                   .settings = &f->collectives[0]};
    f->spec.n_jobs = 1;
}

void fixture_ranks(struct fixture *f, uint32_t job, uint32_t *ranks, uint32_t n)
{
    f->jobs[job].ranks = ranks;
    f->jobs[job].n_ranks = n;
    if (f->jobs[job].kind != &collective_kind)
        return;
    struct collective_settings settings = *(struct collective_settings *)f->jobs[job].settings;
    f->collectives[job] = settings;
    f->collectives[job].schedule.dim_size[0] = n;
    f->jobs[job].settings = &f->collectives[job];
}

void fixture_dims(struct fixture *f, uint32_t n_dims, const uint32_t *sizes,
                  const char *const *algorithms)
{
    struct coll_schedule *s = &f->collectives[0].schedule;
    s->n_dims = n_dims;
    s->active_chunks = 1;
    for (uint32_t d = 0; d < n_dims; d++) {
        s->dim_size[d] = sizes[d];
        assert_non_null(coll_find(algorithms[d]));
        for (unsigned o = 0; o < COLL_OPS; o++)
            s->choice[o][d] = coll_choice_of(coll_find(algorithms[d]));
    }
}

struct fault_spec fixture_fault(const char *at)
{
    return (struct fault_spec){.at = at,
                               .times = 1,
                               .down_ps = PS_NEVER,
                               .up_ps = PS_NEVER,
                               .detect_ps = PS_NEVER,
                               .storm_ps = PS_NEVER,
                               .storm_end_ps = PS_NEVER};
}

void fixture_run(struct fixture *f)
{
    struct err err = {0};
    f->sim = sim_new(&f->spec, &err);
    if (!f->sim)
        fail_msg("%s", err.items[0].text);
    err_free(&err); // warnings
    sim_run(f->sim, NULL);
    f->result = sim_result(f->sim);
}

void fixture_free(struct fixture *f)
{
    result_free(f->result);
    sim_free(f->sim);
    f->result = NULL;
    f->sim = NULL;
}

void fixture_setting(struct fixture *f, const char *key, const char *text)
{
    struct coll_schedule *s = &f->collectives[0].schedule;
    for (unsigned op = 0; op < COLL_OPS; op++)
        for (uint32_t d = 0; d <= s->n_dims; d++)
            coll_choice_set(&s->choice[op][d], key, text);
}
