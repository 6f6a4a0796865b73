// SPDX-License-Identifier: MIT
// Building and checking of graphs.
#include "tests/support/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

const struct link_spec graphs_links[TOPOLOGY_MAX_LINKS] = {
    {.rate_bps = UINT64_C(200000000000), .delay_ps = 25000},
    {.rate_bps = UINT64_C(400000000000), .delay_ps = 12500000},
    {.rate_bps = UINT64_C(100000000000), .delay_ps = 500000},
};

void graphs_params(const struct topology_kind *kind, const struct graph_dim *dim, void *params)
{
    struct err err = {0};
    params_default(kind->params, kind->n_params, params);
    for (const char *const *s = dim->settings; *s; s++) {
        char key[32];
        const char *equals = strchr(*s, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - *s), *s);
        struct param param = param_find(kind->params, kind->n_params, key);
        assert_non_null(param.name);
        assert_int_equal(param_set(&param, params, equals + 1, key, &err), 0);
    }
}

void graphs_build(struct graph *g, uint32_t n, const struct graph_dim *dims)
{
    uint32_t sizes[4] = {0};
    for (uint32_t d = 0; d < n; d++)
        sizes[d] = dims[d].size;
    graph_init(g, n, sizes);
    for (uint32_t d = 0; d < n; d++) {
        const struct topology_kind *kind = topology_find(dims[d].kind);
        uint64_t params[TOPOLOGY_PARAMS_BYTES / 8];
        assert_non_null(kind);
        assert_true(kind->params_bytes <= sizeof params);
        graphs_params(kind, &dims[d], params);
        g->dim_fabric[d] = kind->fabric;
        kind->build(g, d, params, graphs_links);
    }
    graph_seal(g);
}

void graphs_check_ports(const struct graph *g)
{
    uint32_t p = 0;
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        assert_int_equal(g->nodes[n].first_port, p);
        for (uint32_t local = 0; local < g->nodes[n].n_ports; local++, p++) {
            const struct graph_port *port = &g->ports[p], *peer = &g->ports[port->peer];
            assert_int_equal(port->node, n);
            assert_int_equal(port->local, local);
            assert_int_equal(peer->peer, p);
            assert_int_not_equal(peer->node, n);
            assert_int_equal(peer->dim, port->dim);
            assert_int_equal(peer->rate_bps, port->rate_bps);
            assert_int_equal(peer->delay_ps, port->delay_ps);
        }
    }
    assert_int_equal(p, g->n_ports);
}
