// SPDX-License-Identifier: MIT
// collwire library: what the library of a machine would do.
#include "cli/library/library_command.h"

#include <stdio.h>
#include <string.h>

#include "cli/library/print.h"

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

// Read the log first, so that its errors are reported with those of the options.
static int answer(const struct options *o, bool rccl, struct err *err)
{
    struct query query;
    struct answer a;
    struct nccl_log log = {0};
    int code = EXIT_BAD_USE;
    int asked = query_read(&query, rccl, o, err), read = 0;
    if (o->against != NULL && !rccl)
        read = nccl_log_read(&log, o->against, err);
    if (asked == 0 && read == 0 && answer_init(&a, &query, err) == 0) {
        code = EXIT_DONE;
        if (o->against != NULL)
            code = compare(o, &a, &log);
        else
            print(o, &a, NULL);
        answer_free(&a);
    }
    if (o->against != NULL && read == 0)
        nccl_log_free(&log);
    return code;
}

int command_library(const struct options *o)
{
    struct err err = {0};
    bool rccl = o->n_args == 1 && strcmp(o->args[0], "rccl") == 0;
    if (o->n_args != 1 || (!rccl && strcmp(o->args[0], "nccl") != 0)) {
        fprintf(stderr, "collwire: library takes nccl or rccl, the libraries that are known; see "
                        "collwire library --help\n");
        return EXIT_BAD_USE;
    }
    int code = answer(o, rccl, &err);
    errors_print(&err);
    return code;
}
