// SPDX-License-Identifier: MIT
// The commands, one row each, in the order in which help lists them.
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/extcap/extcap.h"
#include "cli/gpcnet/gpcnet.h"
#include "cli/import/import_command.h"
#include "cli/library/library_command.h"
#include "cli/partition/partition.h"
#include "cli/plan/plan.h"
#include "cli/replay/replay_command.h"
#include "cli/runs/runs.h"
#include "cli/sweep/sweep.h"
#include "cli/synth/synth_cli.h"
#include "cli/terminal/terminal.h"
#include "engine/base/err.h"

static const char run_text[] =
    "Simulates the scenario and prints what was measured and why it came out so. The directory "
    "then holds metrics.json (flows, collectives, pauses, marks, drops, queues, links, "
    "explanations), run.json (what depends on the machine), captures, and CSV files where the "
    "scenario wants them.\n\n"
    "  collwire run scenarios/incast.json\n"
    "  collwire run scenarios/incast.json --cc dcqcn --out out/dcqcn\n"
    "  collwire run scenarios/incast.json --set switch.buffer=2MB\n"
    "  collwire run job.json --set 'capture=[{\"at\":\"rank8\",\"file\":\"rank8.pcap\"}]'";

static const char compare_text[] =
    "Simulates each scenario under each policy, in parallel, and prints a row for each policy "
    "with the parts of its time, and the change that would save most. With --vary, the same for "
    "each value of a key.\n\n"
    "A policy is NAME, NAME:PRESET, or either with settings, NAME{KEY=VALUE,...}: a key without "
    "a dot is one of the policy or of its transport, a key with a dot is a path as in --set. "
    "all is every policy that the transport can run. Without --cc these are none and the "
    "scenario's own policy, or all if that is none; with --vary the scenario's own. A policy "
    "replaces the scenario's cc object, "
    "unless it is of that kind already.\n\n"
    "With --seeds, times are means with 95 % intervals (below 5 seeds the times themselves), "
    "and ratios are over pairs of runs with the same seed.\n\n"
    "The directory then holds compare.json, compare.csv (a row for each run, and for each job) "
    "and the results of each run in SCENARIO/[VALUE-][POLICY][-seedK].\n\n"
    "  collwire compare scenarios/incast.json --cc none,window,dcqcn\n"
    "  collwire compare scenarios/incast.json --cc all --seeds 5 --jobs 4\n"
    "  collwire compare job.json --cc 'none,dcqcn:scaled{rate_ai=40Mbps}'\n"
    "  collwire compare a.json b.json --cc dcqcn,swift --baseline dcqcn\n"
    "  collwire compare ring.json --vary workload.algorithm=ring,halving_doubling";

static const char sweep_text[] =
    "Runs all combinations of the values that --vary gives to keys of the scenario, of the "
    "policies of --cc and of --seeds, in parallel. Paths are those of --set.\n\n"
    "The directory (out/NAME-sweep) then holds results.sqlite, the store, with a row and the "
    "metrics.json of each point, and sweep.csv, with a row for each point. A point that has "
    "finished is not run again: the same command after an interruption runs the rest, and one "
    "with more values runs those. What identifies a point are the scenario with all defaults, "
    "the contents of the files that it names, and the version of the program. Points write no "
    "captures.\n\n"
    "  collwire sweep job.json --vary switch.buffer=8MB,32MB --cc none,dcqcn\n"
    "  collwire sweep job.json --vary 'cc.kind=dcqcn,hpcc;switch.buffer=8MB,9MB'\n"
    "  collwire sweep ring.json --sizes 1KB:1GB --cc none,swift\n"
    "  collwire sweep ring.json tree.json --sizes 8:128M --why\n"
    "  collwire sweep job.json --vary cc.kind=dcqcn,hpcc --seeds 5 --dry-run\n"
    "  collwire sweep job.json --vary ... --shard 1/4 --out out/part1\n"
    "  collwire sweep --merge out/part1 out/part2 --out out/all";

static const char explain_text[] =
    "Prints all explanations of a run that is in DIR, the most important first, and with "
    "--against why it took longer or shorter than another one. "
    "--verify runs the scenario again without each of the first causes, and prints what was "
    "stated beside what is saved; of a comparison it does so for all runs.\n\n"
    "  collwire explain out/incast\n"
    "  collwire explain out/incast --verify\n"
    "  collwire explain out/dcqcn --against out/none";

static const char report_text[] =
    "Writes DIR/report.html for the results of run, compare or sweep: one file with charts and "
    "tables that opens in any browser without a network. Results that are made anew remove the "
    "old page. \n\n"
    "  collwire compare scenarios/incast.json --cc none,dcqcn --out out/incast\n"
    "  collwire report out/incast";

static const char plot_text[] =
    "Writes one chart of the page that report makes for DIR into a file: SVG or PDF as wide as a "
    "column of a paper (85 mm) and black on white, or its data as CSV. The ending of FILE says "
    "which; without -o the CSV is printed. PDF needs librsvg on the system.\n\n"
    "NAME=METRIC draws another metric, messages.time=tail the slow messages on a logarithmic axis, "
    "and NAME@RUN, in a comparison, another policy; --list shows all names.\n\n"
    "  collwire plot out/incast-compare --list\n"
    "  collwire plot out/incast-compare --chart messages.slowdown -o slowdown.svg\n"
    "  collwire plot out/incast-compare --chart queue@dcqcn -o queue.pdf\n"
    "  collwire plot out/ring-sweep --chart sweep.lines=busbw_bps -o busbw.csv";

static const char validate_text[] =
    "Reports all errors of the scenarios at once, each with its path, and what a run would cost. "
    "--print shows one scenario with every default, and values that follow from it.";

static const char new_text[] =
    "Prints a scenario to start from, or writes it to FILE; without a name, lists those that there "
    "are. Each is small and valid, and its description names what to change and the page that "
    "explains it.\n\n"
    "  collwire new\n"
    "  collwire new incast -o job.json\n"
    "  collwire new llm | collwire run - --cc dcqcn --out out/llm";

static const char list_text[] = "Prints the catalogue: everything that a scenario can name, and "
                                "every key with its unit, default, range, meaning and source. A "
                                "category is an object of the scenario, or collective or "
                                "metrics; a name without its category is found too.\n\n"
                                "  collwire list\n"
                                "  collwire list cc dcqcn\n"
                                "  collwire list switch buffer\n"
                                "  collwire list --search headroom\n"
                                "  collwire list metrics flows";

static const char import_text[] =
    "Makes a scenario from files of other simulators, or from recordings of a real run. astra "
    "takes the network, system and workload files of ASTRA-sim 1.0; chakra takes execution traces "
    "PREFIX.0.et, PREFIX.1.et, .. of MLCommons Chakra with files of ASTRA-sim 2. kineto takes a "
    "folder with a trace of PyTorch's profiler for each rank, inspector one with the logs of "
    "NCCL's Inspector, nsys one with SQLite exports of Nsight Systems: they make FILE and its "
    "program beside it, in which computations take the measured times, and collectives keep "
    "theirs for comparison (docs/traces.md).\n\n"
    "  collwire import astra network.json system.txt workload.txt -o job.json\n"
    "  collwire import chakra traces/llm --network net.yml --system sys.json \\\n"
    "    --groups groups.json -o job.json\n"
    "  collwire import kineto traces/ --network cluster.json -o job.json";

static const char shrink_text[] =
    "Writes a scenario with fewer layers, micro-batches and iterations of its llm and training "
    "jobs. Shapes and degrees remain, and with them the sizes of all messages. Prints what it "
    "changes, what a smaller model does not show, and the estimated time of both.\n\n"
    "  collwire shrink scenarios/llm/gpt-13b-128.json -o small.json\n"
    "  collwire run small.json";

static const char export_text[] =
    "Writes a scenario's job (a program of nodes, a collective, a training loop, a list of "
    "messages) as execution traces of MLCommons Chakra, one file a rank: "
    "PREFIX.0.et, PREFIX.1.et, .. and PREFIX.groups.json with the communicators, for other "
    "simulators; and PREFIX.json, the scenario that runs the traces.\n"
    "\n"
    "  collwire export chakra scenarios/llm/mixtral-64.json -o traces/mixtral\n"
    "  collwire run traces/mixtral.json";

static const char workload_text[] =
    "Makes the text of a training workload. gemm takes a table of matrix products, one row a "
    "layer; --set changes what collwire list workload gemm shows. llm takes a scenario with a "
    "job of kind llm and writes its nodes as JSON lines, which a job of kind program reads.\n\n"
    "  collwire workload gemm layers.csv --parallel hybrid --set group=8 -o job.txt\n"
    "  collwire workload llm scenario.json -o nodes.jsonl";

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

static const char plan_text[] =
    "Finds the layouts (tensor, pipeline, data, expert and context degrees, micro-batch, virtual "
    "stages, ZeRO, recomputation) of a scenario's llm job that fit into the memory of so many "
    "GPUs, the fastest first: all of them in closed form, then the best ten of each number of "
    "GPUs over packets, on a job with the same messages but fewer layers, micro-batches and "
    "replicas, extrapolated by the closed form. The degrees that the job has are ignored.\n\n"
    "The outermost dimension of the topology grows with the number of GPUs. With --out, results of "
    "runs are kept there, and the same command goes on after an interruption.\n\n"
    "  collwire plan job.json --gpus 64\n"
    "  collwire plan job.json --gpus 64..1024 --within 10%\n"
    "  collwire plan job.json --gpus 1024 --packets-budget 0 --format json";

static const char gpcnet_text[] =
    "Asks as the benchmark GPCNeT does how much other jobs slow a job down: a fifth of the ranks "
    "run a network test (messages around a random ring, an all-reduce), the others four congestors "
    "(exchanges, incasts, a broadcast); the impact is the ratio of the test's times with and "
    "without them, in the mean and the 99th percentile. The scenario's workload is not used.\n\n"
    "  collwire gpcnet network.json\n"
    "  collwire gpcnet network.json --cc none,dcqcn,hpcc,swift --seeds 5\n"
    "  collwire gpcnet clos.json torus.json --cc none,dcqcn --out out/impact\n"
    "  collwire gpcnet network.json --format json";

static const char partition_text[] =
    "Divides a model among ranks by time and bytes, and writes the scenario: the layers of a cnn "
    "job into the stages of a pipeline, by dynamic programming; a graph of operators "
    "({\"operators\": [{\"name\", \"time_ns\", \"memory_bytes\"}], \"edges\": [{\"from\", "
    "\"to\", \"bytes\"}]}) into a program, by METIS; the embedding tables of a training job's dlrm "
    "among its ranks. stderr has the cost in closed form beside that of an equal split, which is "
    "never less.\n\n"
    "Other keys of a graph (topology, cc, transport, ..) are those of the scenario; without a "
    "topology its ranks are on one switch. capacity_bytes is the memory of a rank.\n\n"
    "  collwire partition resnet.json --parts 8 -o pipeline.json\n"
    "  collwire partition graph.json --parts 4 --set cc.kind=dcqcn -o program.json";

static const char synth_text[] =
    "Makes a new set of programs with the statistics of a set: the order of operations, their "
    "dependencies, sizes and groups are kept; times are drawn from a model of them (the base of a "
    "computation, the speed of a rank, and what is left); names become hashes. FILE is a scenario "
    "whose job is a program of nodes (of kind program, chakra, llm, cnn, goal); -o NAME.json "
    "writes the scenario, and NAME.jsonl with the nodes. --seed draws another set.\n\n"
    "FILE may be a list of flows (CSV as collwire replay writes it) or a capture: the new list "
    "keeps distributions of arrivals, sizes and pairs, and what belongs together in bursts.\n\n"
    "stdout has the statistics of both side by side.\n\n"
    "  collwire synth traces.json -o like.json --seed 7\n"
    "  collwire synth traces.json -o large.json --ranks 1024 --scale hidden=2\n"
    "  collwire synth flows.csv -o more.csv --flows 100000";

static const char library_text[] =
    "Prints what NCCL, or on MI300X RCCL, would do on servers of a machine: its channels, rings, "
    "trees and heads of NVLS in the form of its own log, its table of costs, and for each size its "
    "choice of algorithm, protocol, channels and threads. The cost is the one by which the library "
    "ranks its choices, not a forecast of the time: collwire run simulates that.\n\n"
    "A size is the largest buffer of a rank, as nccl-tests counts it: the output of an "
    "all-gather, the input of a reduce-scatter.\n\n"
    "--against compares with the log of a real run of NCCL, and says what differs. Exit code 0: "
    "all that the log has is equal; 1: something differs.\n\n"
    "  collwire library nccl --machine dgx_h100 --nodes 4 --op all_reduce\n"
    "  collwire library nccl --machine dgx_a100 --nodes 2 --bytes 64MB --format json\n"
    "  collwire library nccl --machine dgx_h100 --nodes 4 --against nccl.log\n"
    "  collwire library rccl --machine mi300x --nodes 2";

static const char extcap_text[] =
    "Wireshark gets an interface: a capture on it runs a scenario and shows its packets "
    "as they are simulated. install writes a small program into Wireshark's personal extcap "
    "folders, the plugin for captures of collwire into that of plugins, and a profile. "
    "uninstall removes them. Files of others are never replaced.\n\n"
    "The options of the interface are the scenario, the place, the policy, the pace, changes of "
    "the scenario and a filter.\n\n"
    "  collwire extcap install --scenarios scenarios\n"
    "  tshark -D\n"
    "  tshark -i collwire -o extcap.collwire.scenario:incast\n"
    "  collwire extcap uninstall";

static const char generate_text[] = "Prints the manual page, the completions for a shell (bash, "
                                    "zsh or fish), or the JSON Schema of scenarios, with the "
                                    "policies of --cc-plugin among them.";

static const struct command commands[] = {
    {"run", "simulate one scenario", "SCENARIO", run_text, command_run, COMPLETE_FILES, false},
    {"compare", "scenarios under several policies, side by side", "SCENARIO...", compare_text,
     command_compare, COMPLETE_FILES, false},
    {"sweep", "every combination of values of some keys, resumable", "SCENARIO...", sweep_text,
     command_sweep, COMPLETE_FILES, false},
    {"explain", "why a run took its time, or why two runs differ", "DIR", explain_text,
     command_explain, COMPLETE_FOLDERS, false},
    {"report", "results as a page of charts and tables: DIR/report.html", "DIR", report_text,
     command_report, COMPLETE_FOLDERS, false},
    {"plot", "one chart of results as SVG, PDF or CSV", "DIR", plot_text, command_plot,
     COMPLETE_FOLDERS, false},
    {"validate", "check a scenario without running it", "SCENARIO...", validate_text,
     command_validate, COMPLETE_FILES, false},
    {"new", "a scenario to start from", "[NAME]", new_text, command_new, COMPLETE_NOTHING, false},
    {"list", "policies, transports, topologies, every key and metric", "[CATEGORY [NAME]]",
     list_text, command_list, COMPLETE_CATEGORIES, false},
    {"import", "a scenario from files of others, or from a real run",
     "(astra FILES | chakra PREFIX | kineto|inspector|nsys FOLDER)", import_text, command_import,
     COMPLETE_FILES, false},
    {"gpcnet", "how much congestion slows other jobs down, as GPCNeT asks", "NETWORK...",
     gpcnet_text, command_gpcnet, COMPLETE_FILES, false},
    {"plan", "the layouts of a job that fit so many GPUs, the fastest first",
     "SCENARIO --gpus N|A..B", plan_text, command_plan, COMPLETE_FILES, false},
    {"partition", "a model divided among ranks by time and bytes, as a scenario", "MODEL --parts N",
     partition_text, command_partition, COMPLETE_FILES, false},
    {"synth", "a new set of traces or flows with the statistics of others", "FILE", synth_text,
     command_synth, COMPLETE_FILES, false},
    {"shrink", "a smaller training scenario with messages of the same sizes", "SCENARIO",
     shrink_text, command_shrink, COMPLETE_FILES, false},
    {"export", "a program as files for other simulators", "chakra SCENARIO", export_text,
     command_export, COMPLETE_FILES, false},
    {"workload", "a training workload from the shapes of a model",
     "gemm LAYERS.csv --parallel KIND | llm SCENARIO", workload_text, command_workload,
     COMPLETE_FILES, false},
    {"replay", "flows from a capture of RoCE or TCP traffic", "CAPTURE", replay_text,
     command_replay, COMPLETE_FILES, false},
    {"library", "what NCCL or RCCL chooses: rings, trees, algorithms",
     "nccl|rccl --machine NAME --nodes N", library_text, command_library, COMPLETE_NOTHING, false},
    {"extcap", "scenarios as an interface of Wireshark", "install|uninstall", extcap_text,
     command_extcap, COMPLETE_NOTHING, false},
    {"help", "the page of a command", "[COMMAND]", "", command_help, COMPLETE_COMMANDS, false},
    {"generate", "the manual page, completions and the schema", "man|bash|zsh|fish|schema",
     generate_text, command_generate, COMPLETE_NOTHING, true},
};
const struct commands all_commands = {commands, sizeof commands / sizeof *commands};
