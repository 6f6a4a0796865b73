// SPDX-License-Identifier: MIT
// Machines read from the text of a topology, and compared; include it after cmocka.h.
#pragma once

#include "collective/nccl/xml/topology.h"
#include "tests/config/load.h"

// Read a machine from a text: NCCL's topology (`like` NULL), or hwloc's, which needs the name of a
// similar machine.
static struct nccl_machine *machine_read(const char *text, size_t n, const char *like,
                                         struct err *err)
{
    file_write("t.xml", text, n);
    struct nccl_machine *m = nccl_topology_read(
        folder, "t.xml", "machine", like != NULL ? nccl_machine_named(like) : NULL, err);
    file_remove("t.xml");
    return m;
}

static void slots_equal(const struct nccl_slot *a, const struct nccl_slot *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(a[i].at_cpu, b[i].at_cpu);
        assert_int_equal(a[i].parent, b[i].parent);
        assert_float_equal(a[i].bw, b[i].bw, 1e-9);
    }
}
