// SPDX-License-Identifier: MIT
// The choices of a library, and what stands beside them: a log, or measured times.
#include "cli/library/library_command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/found.h"
#include "cli/library/answer_tell.h"
#include "cli/library/library_beside.h"
#include "cli/measured/beside.h"

static void print(const struct options *o, const struct answer *a, const struct log_comparison *c)
{
    if (o->format == FORMAT_JSON) {
        json_t *root = answer_json(a, c);
        json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(10));
        putchar('\n');
        json_decref(root);
    } else if (c != NULL) {
        log_comparison_print(stdout, a, c);
    } else {
        answer_print(stdout, a);
    }
}

static int compare(const struct options *o, const struct answer *a, const struct nccl_log *log)
{
    struct log_comparison c;
    log_comparison_init(&c, a, log);
    print(o, a, &c);
    int code = log_comparison_is_equal(&c) ? EXIT_DONE : EXIT_NOT_COMPLETED;
    log_comparison_free(&c);
    return code;
}

// What --against names.
struct beside_answer {
    bool log; // else a table or a recording
    struct nccl_log of_log;
    struct measured_table table;
};

// A file that is not known by its content is read as a log, whose lines may stand anywhere.
static bool is_log(const char *path, struct err *err)
{
    struct found found = {0};
    bool log = false;
    if (found_read(&found, &path, 1, err) == 0)
        log = found.n == 1 &&
              (found.files[0].kind == NULL || strcmp(found.files[0].kind->name, "nccl-log") == 0);
    found_free(&found);
    return log;
}

static int beside_answer_read(struct beside_answer *b, const char *path, bool rccl, struct err *err)
{
    size_t errors = err->n_errors;
    b->log = is_log(path, err);
    if (err->n_errors > errors)
        return -1;
    if (!b->log)
        return beside_table(&b->table, path, err);
    if (rccl)
        return err_add(err, "--against", "compares with logs of NCCL, not of RCCL");
    return nccl_log_read(&b->of_log, path, err);
}

// Read the file first, so that its errors are reported with those of the options.
static int answer(const struct options *o, bool rccl, struct err *err)
{
    struct query query;
    struct answer a;
    struct beside_answer beside = {0};
    int code = EXIT_BAD_USE;
    int asked = query_read(&query, rccl, o, err), read = 0;
    if (o->against != NULL)
        read = beside_answer_read(&beside, o->against, rccl, err);
    if (asked == 0 && read == 0 && answer_init(&a, &query, err) == 0) {
        code = EXIT_DONE;
        if (o->against == NULL)
            print(o, &a, NULL);
        else if (beside.log)
            code = compare(o, &a, &beside.of_log);
        else
            code = library_beside(o, &a, &beside.table, err);
        answer_free(&a);
    }
    if (beside.log && read == 0)
        nccl_log_free(&beside.of_log);
    measured_table_free(&beside.table);
    query_free(&query);
    return code;
}

static int command_library(const struct options *o)
{
    struct err err = {0};
    bool rccl = o->n_args == 1 && strcmp(o->args[0], "rccl") == 0;
    if (o->n_args != 1 || (!rccl && strcmp(o->args[0], "nccl") != 0)) {
        fputs("collwire: library takes nccl or rccl; see collwire library --help\n", stderr);
        return EXIT_BAD_USE;
    }
    int code = answer(o, rccl, &err);
    errors_print(&err);
    return code;
}

static const char library_text[] =
    "Prints what NCCL, or on MI300X RCCL, would do on servers of a machine: its channels, rings, "
    "trees and heads of NVLS in the form of its own log, its table of costs, and for each size its "
    "choice of algorithm, protocol, channels and threads. The cost is the one by which the library "
    "ranks its choices, not a forecast of the time: collwire run simulates that.\n\n"
    "A size is the largest buffer of a rank, as nccl-tests counts it: the output of an "
    "all-gather, the input of a reduce-scatter.\n\n"
    "--against compares with the log of a real run of NCCL, and says what differs. Exit code 0: "
    "all that the log has is equal; 1: something differs. Beside a table of nccl-tests or another "
    "recording of times stand the choices for its sizes, and the times of runs on the hybrid "
    "network.\n\n"
    "  collwire library nccl --machine dgx_h100 --nodes 4 --op all_reduce\n"
    "  collwire library nccl --machine dgx_a100 --nodes 2 --bytes 64MB --format json\n"
    "  collwire library nccl --machine dgx_h100 --nodes 4 --against nccl.log\n"
    "  collwire library nccl --machine dgx_h100 --nodes 2 --against nccl-tests.txt\n"
    "  collwire library nccl --machine '{\"like\": \"dgx_h100\", \"nics\": 4}' --nodes 2\n"
    "  collwire library rccl --machine mi300x --nodes 2";

const struct command library_command = {
    .name = "library",
    .help = "what NCCL or RCCL chooses: rings, trees, algorithms",
    .args = "nccl|rccl --machine NAME --nodes N",
    .text = library_text,
    .run = command_library,
    .completes = COMPLETE_NOTHING,
};
