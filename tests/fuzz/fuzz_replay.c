// SPDX-License-Identifier: MIT
// Captures, as flows under the ranks of their addresses and under a map that has few of them.
#include <stdio.h>
#include <stdlib.h>

#include "cli/replay/address_map.h"
#include "cli/replay/replay.h"
#include "tests/fuzz/support.h"

// The packets of a capture are either used or counted by the reason why not.
static void check_counts(const struct replay *r)
{
    uint64_t packets = r->used;
    for (size_t i = 0; i < SKIP_REASONS; i++)
        packets += r->skipped[i];
    if (packets != r->packets || r->flows.n_rows > r->used)
        abort();
}

static void check_rows(const struct replay *r)
{
    for (size_t i = 0; i < r->flows.n_rows; i++) {
        const struct flow_row *row = &r->flows.rows[i];
        if (row->bytes == 0 || row->start_ns < 0 || row->src == row->dst ||
            (i > 0 && row[-1].start_ns > row->start_ns))
            abort();
    }
}

// Each packet of an address has a source and a destination.
static void check_hosts(const struct captured_hosts *hosts)
{
    const struct captured_host *common[2];
    uint64_t sent = 0, received = 0;
    for (size_t i = 0; i < hosts->n; i++) {
        sent += hosts->list[i].sent;
        received += hosts->list[i].received;
    }
    if (sent != hosts->packets || received != hosts->packets ||
        captured_hosts_common(hosts, common) > 2)
        abort();
}

static void run(const char *path, const struct address_map *map)
{
    struct replay replay;
    struct err err = {0};
    struct captured_hosts hosts = {0};
    if (replay_read(&replay, path, 1000000, &hosts, &err) == 0) {
        check_counts(&replay);
        check_hosts(&hosts);
        replay_rank(&replay, map);
        check_rows(&replay);
        FILE *null = fopen("/dev/null", "w");
        replay_write(&replay, null);
        replay_write_map(&replay, null);
        fclose(null);
    }
    replay_free(&replay);
    captured_hosts_free(&hosts);
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[300], map_path[300];
    struct address_map map;
    struct err err = {0};
    fuzz_write("trace.pcap", data, n);
    fuzz_write_text("map.csv", "192.168.1.10,0\n192.168.1.20,1\nfd00::10,0\n10.0.0.1,70000\n");
    snprintf(path, sizeof path, "%s/trace.pcap", fuzz_folder());
    snprintf(map_path, sizeof map_path, "%s/map.csv", fuzz_folder());
    run(path, NULL);
    if (address_map_read(&map, map_path, &err) != 0)
        abort();
    run(path, &map);
    address_map_free(&map);
    err_free(&err);
    return 0;
}
