// SPDX-License-Identifier: MIT
// collwire replay: makes a list of flows from a capture.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/replay/address_map.h"
#include "cli/replay/replay.h"
#include "cli/replay/replay_command.h"
#include "cli/results/output.h"
#include "cli/terminal/signals.h"

#define GAP_DEFAULT_PS PS_PER_MS

static void print_reasons(const uint64_t *counts, const char *const *words, size_t n,
                          const char *title)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += counts[i];
    if (sum == 0)
        return;
    fprintf(stderr, "  %s: %" PRIu64 "\n", title, sum);
    for (size_t i = 0; i < n; i++)
        if (counts[i] > 0)
            fprintf(stderr, "%12" PRIu64 "  %s\n", counts[i], words[i]);
}

static void print_flows(const struct replay *r)
{
    char text[UNIT_TEXT];
    uint64_t bytes = 0;
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < r->flows.n_rows; i++) {
        const struct flow_row *row = &r->flows.rows[i];
        uint32_t least = row->src < row->dst ? row->src : row->dst;
        uint32_t most = row->src < row->dst ? row->dst : row->src;
        bytes += row->bytes;
        low = least < low ? least : low;
        high = most > high ? most : high;
    }
    fprintf(stderr, "  flows: %zu between ranks %" PRIu32 " to %" PRIu32 ", %s\n", r->flows.n_rows,
            low, high, human_bytes(bytes, text));
}

static void print_summary(const struct replay *r, const char *name)
{
    char text[UNIT_TEXT];
    fprintf(stderr, "collwire: %s: %" PRIu64 " packets in %s\n", name, r->packets,
            human_ns(r->last_ns - r->first_ns, text));
    if (r->flows.n_rows > 0)
        print_flows(r);
    print_reasons(r->skipped, skip_words, SKIP_REASONS, "packets that carry no flow");
    print_reasons(r->flows.left, left_words, LEFT_REASONS, "messages left out");
    if (r->flows.unended > 0)
        fprintf(stderr,
                "  messages whose end is not in the capture, with their full size: %" PRIu64 "\n",
                r->flows.unended);
    if (r->unordered > 0)
        fprintf(stderr, "  packets with an earlier time than the one before: %" PRIu64 "\n",
                r->unordered);
}

static void put_flows(FILE *out, const void *replay) { replay_write(replay, out); }
static void put_map(FILE *out, const void *replay) { replay_write_map(replay, out); }

// Write the files. Returns the exit code.
static int write_results(const struct options *o, const struct replay *r)
{
    int code = output_write(o->file, put_flows, r);
    if (code == EXIT_DONE && o->map_out)
        code = output_write(o->map_out, put_map, r);
    bool whole =
        r->failure == NULL && r->skipped[SKIP_CONNECTIONS] == 0 && r->flows.left[LEFT_ROWS] == 0;
    return code == EXIT_DONE && !whole ? EXIT_NOT_COMPLETED : code;
}

static int finish(const struct options *o, struct replay *r, const struct address_map *map,
                  const char *name)
{
    replay_rank(r, map);
    if (!o->quiet || r->flows.n_rows == 0)
        print_summary(r, name);
    if (r->failure)
        fprintf(stderr, "collwire: %s: cannot be read behind packet %" PRIu64 ": %s\n", name,
                r->packets, r->failure);
    if (r->flows.n_rows > 0)
        return write_results(o, r);
    fprintf(stderr, "collwire: %s: has no message of RoCEv2 or TCP that can be a flow\n", name);
    return EXIT_BAD_USE;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (!a || !b)
        return false;
    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    return strcmp(a, b) == 0;
}

// Check that no output overwrites the capture, that -o does not overwrite the map, and that the
// outputs differ. Returns 0, or -1 with errors.
static int check_files(const struct options *o, struct err *err)
{
    const char *capture = strcmp(o->args[0], "-") == 0 ? NULL : o->args[0]; // NULL = stdin
    if (same_file(o->file, capture) || same_file(o->file, o->map))
        err_add(err, "-o", "%s is a file that is read", o->file);
    if (same_file(o->map_out, capture))
        err_add(err, "--map-out", "%s is the capture", o->map_out);
    if (same_file(o->map_out, o->file))
        err_add(err, "--map-out", "%s is the file of -o", o->map_out);
    return err->n_errors == 0 ? 0 : -1;
}

static int command_replay(const struct options *o)
{
    struct err err = {0};
    struct address_map map = {0};
    struct replay replay = {0};
    if (o->n_args != 1) {
        fputs("collwire: replay takes one capture; see collwire replay --help\n", stderr);
        return EXIT_BAD_USE;
    }
    const char *path = o->args[0], *name = strcmp(path, "-") == 0 ? "stdin" : path;
    ps_t gap_ps = o->gap_ps > 0 ? o->gap_ps : GAP_DEFAULT_PS;
    if (check_files(o, &err) == 0 && o->map)
        address_map_read(&map, o->map, &err);
    signals_phase("reading the capture");
    if (err.n_errors == 0)
        replay_read(&replay, path, gap_ps / PS_PER_NS, NULL, &err);
    bool good = err.n_errors == 0;
    errors_print(&err);
    signals_phase("writing the flows");
    int code = good ? finish(o, &replay, o->map ? &map : NULL, name) : EXIT_BAD_USE;
    replay_free(&replay);
    address_map_free(&map);
    return code;
}

/* ---- its row ---- */

static const char replay_text[] =
    "Makes a list of flows from a capture of real RoCEv2 or TCP traffic, for a workload of kind "
    "flows with this file, so that the same messages can be simulated under other policies. A "
    "message of RoCE or a transfer of TCP is a row src,dst,bytes,start_ns, with the time since "
    "the capture's first packet. pcap and pcapng are read, also compressed by gzip, and - is "
    "stdin. stderr says what was not used, and why.\n\n"
    "In captures of collwire addresses have ranks. Others get ranks in ascending order, unless "
    "--map says which. Exit code 1: the file is damaged at some point, and what was before it "
    "is used.\n\n"
    "  collwire replay trace.pcapng -o flows.csv\n"
    "  collwire replay trace.pcap.gz --map hosts.csv --gap 500us -o flows.csv\n"
    "  collwire run job.json --set cc.kind=dcqcn \\\n"
    "    --set 'workload={\"kind\":\"flows\",\"file\":\"flows.csv\"}'";

const struct command replay_command = {
    .name = "replay",
    .help = "flows from a capture of RoCE or TCP traffic",
    .args = "CAPTURE",
    .text = replay_text,
    .run = command_replay,
    .completes = COMPLETE_FILES,
};
