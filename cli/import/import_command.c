// SPDX-License-Identifier: MIT
// collwire import: scenarios from files of other simulators, and from recordings of real runs.
#include <string.h>

#include "cli/import/found.h"
#include "cli/import/import.h"
#include "cli/import/import_any.h"
#include "cli/import/import_command.h"
#include "cli/import/recording_command.h"
#include "cli/import/simulator_command.h"

static int usage(const char *what)
{
    fprintf(stderr, "collwire: import takes %s; see collwire import --help\n", what);
    return EXIT_BAD_USE;
}

static int recording(const struct options *o)
{
    struct recording_files given = {.format = o->args[0], .folder = o->args[1]};
    return o->n_args == 2 && o->file != NULL ? recording_import(o, &given)
                                             : usage("inspector, kineto, nsys FOLDER -o FILE");
}

static int astra(const struct options *o)
{
    struct notes none = {0};
    if (o->n_args != 4)
        return usage("astra NETWORK.json SYSTEM.txt WORKLOAD.txt");
    struct astra_import from = {.network = o->args[1],
                                .system = o->args[2],
                                .workload = o->args[3],
                                .passes = o->passes,
                                .compute_scale = o->compute_scale};
    return astra_import_files(o, &from, &none);
}

static int chakra(const struct options *o)
{
    struct notes none = {0};
    if (o->n_args != 2 || o->network == NULL || o->system == NULL)
        return usage("chakra PREFIX --network FILE --system FILE");
    struct chakra_import from = {.prefix = o->args[1],
                                 .network = o->network,
                                 .system = o->system,
                                 .groups = o->groups,
                                 .memory = o->memory,
                                 .ignores_missing = o->ignore_missing,
                                 .output = o->file};
    return chakra_import_files(o, &from, &none);
}

static int command_import(const struct options *o)
{
    if (o->n_args == 0)
        return usage("files or folders");
    if (profile_format_known(o->args[0]))
        return recording(o);
    if (strcmp(o->args[0], "astra") == 0)
        return astra(o);
    if (strcmp(o->args[0], "chakra") == 0)
        return chakra(o);
    return import_any(o);
}

/* ---- its row ---- */

static const char import_text[] =
    "Makes a scenario from files of other simulators, or from recordings of a real run. What FILE "
    "or the files in DIR are is decided by their content: traces of PyTorch's profiler, graphs "
    "of its ExecutionTraceObserver, logs of NCCL's Inspector and exports of Nsight Systems "
    "(docs/traces.md), execution traces of Chakra, "
    "workloads of ASTRA-sim and SimAI, connection matrices of htsim, GOAL, lists of flows, "
    "distributions of sizes (docs/formats.md). The summary says what the files are, what was "
    "assumed and which files were not taken; --strict makes assumptions errors, and --as KIND "
    "chooses where there are several kinds, or none is recognised: kineto, inspector, observer, "
    "nsys, chakra, training, htsim, goal, flows, cdf or program. --network NETWORK is a scenario "
    "whose network the job gets.\n\n"
    "A recording becomes FILE and its program beside it, in which computations take the measured "
    "times, and collectives keep theirs for comparison. --replicate takes ranks that were not "
    "recorded to do what others did.\n\n"
    "  collwire import traces/ -o job.json\n"
    "  collwire import microAllReduce.txt --network cluster.json -o job.json\n\n"
    "A kind may come first: astra with the network, system and workload files of ASTRA-sim 1.0, "
    "chakra with the prefix of traces PREFIX.0.et, PREFIX.1.et, .. and files of ASTRA-sim 2, "
    "kineto, inspector or nsys with a folder, all of whose files of the format are read.\n\n"
    "  collwire import astra network.json system.txt workload.txt -o job.json\n"
    "  collwire import chakra traces/llm --network net.yml --system sys.json \\\n"
    "    --groups groups.json -o job.json\n"
    "  collwire import kineto traces/ --network cluster.json -o job.json";

const struct command import_command = {
    .name = "import",
    .help = "a scenario from files of others, or from a real run",
    .args = "(FILE|DIR... | astra FILES | chakra PREFIX | kineto|inspector|nsys FOLDER)",
    .text = import_text,
    .run = command_import,
    .completes = COMPLETE_FILES,
};
