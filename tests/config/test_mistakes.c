// SPDX-License-Identifier: MIT
// Errors in scenarios: each is reported with its path, and all of them at once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/config/load.h"

#define FLOWS(list) "{\"kind\":\"flows\",\"flows\":[" list "]}"

// Further keys of the root, the list of dimensions, the workload; NULL = a valid default.
#define LAYERS "\"layers\":[{\"name\":\"a\",\"wg\":{\"op\":\"all_reduce\",\"bytes\":9}}]"
#define TRAIN(more) "{\"kind\":\"training\",\"parallelism\":\"DATA\"," LAYERS more "}"

struct mistake {
    const char *root, *dims, *job, *want;
};

static const struct mistake mistakes[] = {
    // keys, types, units, ranges
    {"\"swich\":{}", NULL, NULL, "swich: unknown key; did you mean \"switch\"?"},
    {"\"zzz\":1", NULL, NULL, "zzz: unknown key"},
    {"\"seed\":null", NULL, NULL, "seed: must be a whole number, not null"},
    {"\"seed\":\"7\"", NULL, NULL, "seed: must be a whole number, not a string"},
    {"\"seed\":-1", NULL, NULL, "seed: \"-1\" is not a count"},
    {"\"seed\":9007199254740993", NULL, NULL, "seed: 9007199254740993 is above the maximum"},
    {"\"duration\":5", NULL, NULL, "duration: must be a time with its unit"},
    {"\"network\":\"ideal\"", NULL, NULL, "network: "},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"link\":{\"rate\":\"100GB\"}}", NULL,
     "topology.dims[0].link.rate: \"100GB\" is not a rate"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"link\":{\"rate\":100}}", NULL,
     "topology.dims[0].link.rate: must be a rate with its unit like \"100Gbps\", not a number"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"link\":{\"delay\":\"-1us\"}}", NULL,
     "topology.dims[0].link.delay: \"-1us\" is not a time"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"link\":{\"reverse\":\"1Gbps\"}}", NULL,
     "topology.dims[0].link.reverse: must be an object, not a string"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"link\":{\"reverse\":{\"rate\":\"1bps\"}}}", NULL,
     "topology.dims[0].link.reverse.rate: 1bps is below the minimum 1Mbps"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"link\":{\"reverse\":{\"dely\":\"1us\"}}}", NULL,
     "topology.dims[0].link.reverse.dely: unknown key; did you mean \"delay\"?"},
    {"\"network\":\"analytical\"",
     "{\"kind\":\"switch\",\"size\":4,\"link\":{\"reverse\":{\"rate\":\"1Gbps\"}}}", NULL,
     "topology.dims[0].link.reverse: the analytical network has no closed form of links that "
     "differ"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"trunk\":{}}", NULL,
     "topology.dims[0].trunk: unknown key"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":1000000000000000000}",
     "workload.bytes: 1000000000000000000 bytes is above the maximum 1PB"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":\"0B\"}", "workload.bytes: 0B is below"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":1.5}",
     "workload.bytes: must be a size like \"128MB\" or 4096, not a number"},
    {NULL, NULL, "{\"kind\":\"permutation\"}", "workload.bytes: is required"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":1,\"start\":\"1\"}",
     "workload.start: \"1\" is not a time"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"link\":{\"rate\":\"100GBps\"}}", NULL,
     "topology.dims[0].link.rate: \"100GBps\" is in bytes, and rates are in bits: write "
     "\"800Gbps\""},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"link\":{\"rate\":\"0.5 TB/s\"}}", NULL,
     "topology.dims[0].link.rate: \"0.5 TB/s\" is in bytes, and rates are in bits: write "
     "\"4Tbps\""},
    {"\"cc\":\"dcqcn\"", NULL, NULL, "cc: must be an object, not a string: {\"kind\": \"dcqcn\"}"},
    {"\"engine\":{\"fast_forward\":true}", NULL, NULL,
     "engine.fast_forward: must be off or exact, not a boolean"},
    // topology
    {NULL, "", NULL, "topology.dims: must not be empty"},
    {NULL, "7", NULL, "topology.dims[0]: must be an object, not a number"},
    {NULL, "{}", NULL, "topology.dims[0].kind: is required"},
    {NULL, "{\"kind\":\"swich\",\"size\":4}", NULL, "did you mean \"switch\"?"},
    {NULL, "{\"kind\":\"ring\",\"size\":514}", NULL,
     "topology.dims[0]: size 514 exceeds the maximum 513 of this kind"},
    {NULL, "{\"kind\":\"ring\",\"size\":4,\"planes\":2}", NULL,
     "topology.dims[0].planes: unknown key"},
    {NULL, "{\"kind\":\"rail\",\"size\":12,\"gpus_per_server\":8,\"spines\":1}", NULL,
     "topology.dims[0]: 12 ranks are not a multiple of gpus_per_server 8"},
    {NULL,
     "{\"kind\":\"dragonfly\",\"size\":80,\"ranks_per_router\":2,\"routers_per_group\":4,"
     "\"global_links\":2}",
     NULL, "topology.dims[0]: 10 groups are too many: at most 9 with 8 global links per group"},
    {NULL, "{\"kind\":\"ring\",\"size\":4},{\"kind\":\"ring\",\"size\":3}",
     FLOWS("{\"src\":0,\"dst\":5,\"bytes\":1}"),
     "workload.flows[0]: ranks 0 and 5 differ in more than one dimension"},
    {NULL, "{\"kind\":\"switch\"}", NULL, "topology.dims[0].size: is required"},
    {NULL, "{\"kind\":\"switch\",\"size\":0}", NULL, "topology.dims[0].size: 0 is below"},
    {NULL, "{\"kind\":\"switch\",\"size\":4096}", NULL,
     "a switch would have 4096 ports; the maximum is 4095"},
    {NULL, "{\"kind\":\"switch\",\"size\":4000},{\"kind\":\"switch\",\"size\":4000}", NULL,
     "topology.dims: the sizes multiply to more than 65536 ranks"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"ranks_per_port\":3}", NULL,
     "topology.dims[0].ranks_per_port: 4 ranks are not a multiple of"},
    {NULL, "{" LEAF ",\"ranks_per_leaf\":4,\"spines\":0}", NULL,
     "topology.dims[0].spines: 0 is below the minimum 1"},
    {NULL, "{" LEAF ",\"ranks_per_leaf\":0,\"spines\":1}", NULL,
     "topology.dims[0].ranks_per_leaf: 0 is below"},
    {NULL, "{" LEAF ",\"ranks_per_leaf\":3,\"spines\":2}", NULL,
     "topology.dims[0]: 8 ranks are not a multiple of ranks_per_leaf 3"},
    {NULL, DIM "," DIM, FLOWS("{\"src\":0,\"dst\":5,\"bytes\":1}"),
     "workload.flows[0]: ranks 0 and 5 differ in more than one dimension"},
    {NULL, DIM "," DIM, "{" COLL "}", "workload: ranks 3 and 4 differ in more than one dimension"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"switch\":{\"bufer\":1}}", NULL,
     "topology.dims[0].switch.bufer: unknown key; did you mean \"buffer\"?"},
    // switch
    {"\"switch\":[]", NULL, NULL, "switch: must be an object, not a list"},
    {"\"switch\":{\"buffer\":\"32Mb\"}", NULL, NULL, "switch.buffer: \"32Mb\" is not a size"},
    {"\"switch\":{\"buffer\":\"trident9\"}", NULL, NULL,
     "switch.buffer: \"trident9\" is not one of trident2, trident3, tomahawk3, spectrum4"},
    {"\"switch\":{\"pfc\":{\"enabled\":\"yes\"}}", NULL, NULL,
     "switch.pfc.enabled: must be true or false, not a string"},
    {"\"switch\":{\"pfc\":{\"alpha\":0}}", NULL, NULL, "switch.pfc.alpha: 0 is below"},
    {"\"switch\":{\"ecn\":{\"kmin\":\"900KB\",\"kmax\":\"400KB\"}}", NULL, NULL,
     "switch.ecn.kmin: 900KB exceeds kmax 400KB"},
    {"\"switch\":{\"ecn\":\"off\"}", NULL, NULL, "switch.ecn: must be \"auto\" or an object"},
    {"\"switch\":{\"queue_limit\":42}", NULL, NULL,
     "switch.queue_limit: must be \"auto\" or an object, not a number"},
    {"\"switch\":{\"queue_limit\":{}}", NULL, NULL,
     "switch.queue_limit: needs `packets` or `bytes`"},
    {"\"switch\":{\"queue_limit\":{\"packets\":1,\"bytes\":\"1KB\"}}", NULL, NULL,
     "switch.queue_limit: takes either `packets` or `bytes`, not both"},
    {"\"switch\":{\"queue_limit\":{\"packets\":0}}", NULL, NULL,
     "switch.queue_limit.packets: 0 is below the minimum 1"},
    {"\"switch\":{\"queue_limit\":{\"packet\":1}}", NULL, NULL,
     "switch.queue_limit.packet: unknown key; did you mean \"packets\"?"},
    {"\"switch\":{\"latency\":\"spectrumm2\"}", NULL, NULL,
     "switch.latency: \"spectrumm2\" is not one of trident2, trident3, spectrum2, fabric_2026; "
     "did you mean \"spectrum2\"?"},
    {"\"switch\":{\"latency\":\"7\"}", NULL, NULL,
     "switch.latency: \"7\" is not a time (write it like \"12.5us\")"},
    {"\"switch\":{\"int\":\"yes\"}", NULL, NULL,
     "switch.int: \"yes\" is not one of auto, true, false"},
    {"\"switch\":{\"ecn\":{\"at\":\"enqueue\"}}", NULL, NULL,
     "switch.ecn.at: \"enqueue\" is not one of departure, arrival"},
    {"\"switch\":{\"ecn\":{\"not_ect\":\"mark\"}}", NULL, NULL,
     "switch.ecn.not_ect: \"mark\" is not one of forward, drop"},
    {"\"switch\":{\"ecn\":{\"kind\":\"pi\",\"pi_b\":0.1}}", NULL, NULL,
     "switch.ecn.pi_b: 0.1 exceeds pi_a"},
    {"\"switch\":{\"classes\":[]}", NULL, NULL, "switch.classes: must be an object, not a list"},
    {"\"switch\":{\"classes\":{\"6\":{}}}", NULL, NULL,
     "switch.classes.6: is not a class of data: 0 to 5"},
    {"\"switch\":{\"classes\":{\"33\":{}}}", NULL, NULL, "switch.classes.33: is not a class"},
    {"\"switch\":{\"classes\":{\"\":{}}}", NULL, NULL, "switch.classes.: is not a class"},
    {"\"switch\":{\"classes\":{\"3\":{\"weight\":0}}}", NULL, NULL,
     "switch.classes.3.weight: 0 is below"},
    {"\"switch\":{\"classes\":{\"0\":{\"wieght\":1}}}", NULL, NULL,
     "switch.classes.0.wieght: unknown key; did you mean \"weight\"?"},
    {"\"switch\":{\"classes\":{\"0\":{\"lossless\":\"yes\"}}}", NULL, NULL,
     "switch.classes.0.lossless: \"yes\" is not one of auto, true, false"},
    {"\"switch\":{\"pfc\":{\"enabled\":false},\"classes\":{\"0\":{\"lossless\":true}}}", NULL, NULL,
     "switch.classes.0.lossless: a lossless class needs pfc.enabled"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"switch\":{\"classes\":{\"1\":{\"alpha\":0}}}}", NULL,
     "topology.dims[0].switch.classes.1.alpha: 0 is below"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":1,\"class\":6}",
     "workload.class: 6 is above the maximum 5"},
    {NULL, NULL, "[" JOB ",{\"kind\":\"permutation\",\"bytes\":1,\"class\":\"high\"}]",
     "workload[1].class: must be a whole number"},
    {"\"switch\":{\"routing\":{\"kind\":\"sprey\"}}", NULL, NULL,
     "switch.routing.kind: \"sprey\" is not one of ecmp, spray, flowlet, adaptive, static, "
     "source; did you"},
    {"\"switch\":{\"routing\":{\"kind\":\"adaptive\",\"remote\":true}}", NULL, NULL,
     "switch.routing.remote: needs state_interval"},
    {"\"switch\":{\"routing\":{\"kind\":\"adaptive\",\"state_interval\":\"10ns\"}}", NULL, NULL,
     "switch.routing.state_interval: must be 0ns, or at least 100ns"},
    {"\"faults\":[{\"at\":\"rank0\",\"down\":\"2us\",\"up\":\"1us\"}]", NULL, NULL,
     "faults[0].up: 1us must be later than down 2us"},
    {"\"faults\":[{\"at\":\"rank0\",\"packets\":3}]", NULL, NULL,
     "faults[0].packets: must be a list, not a number"},
    {"\"faults\":[{\"at\":\"rank0\",\"packets\":[1,\"x\"]}]", NULL, NULL,
     "faults[0].packets[1]: must be a whole number, not a string"},
    {"\"faults\":[{\"at\":\"rank0\",\"packets\":[0]}]", NULL, NULL,
     "faults[0].packets[0]: packets are counted from 1"},
    {"\"faults\":[{\"at\":\"rank0\",\"packets\":[2,5,5]}]", NULL, NULL,
     "faults[0].packets[2]: packets are counted from 1 and listed in ascending order; 5 follows 5"},
    {"\"faults\":[{\"at\":\"rank0\",\"every\":2,\"times\":0}]", NULL, NULL,
     "faults[0].times: 0 is below"},
    {"\"faults\":[{\"at\":\"rank0\",\"blackout\":{\"packet\":2}}]", NULL, NULL,
     "faults[0].blackout.for: is required"},
    {"\"faults\":[{\"at\":\"rank0\",\"blackout\":{\"packet\":0,\"for\":\"1s\"}}]", NULL, NULL,
     "faults[0].blackout.packet: 0 is below"},
    {"\"faults\":[{\"loss\":2}]", NULL, NULL, "faults[0].loss: 2 is above"},
    {"\"faults\":[{\"loss\":0.1}]", NULL, NULL, "faults[0].at: is required"},
    {"\"switch\":{\"routing\":{\"relay\":1}}", NULL, NULL,
     "switch.routing.relay: must be true or false"},
    {"\"switch\":{\"routing\":{\"relay\":true}}",
     "{\"kind\":\"switch\",\"size\":4,\"switch\":{\"routing\":{\"relay\":false}}}", NULL,
     "topology.dims[0].switch.routing.relay: relaying concerns all dimensions"},
    // policies that the transport cannot run
    {"\"cc\":{\"kind\":\"cubic\"}", NULL, NULL,
     "cc.kind: cubic needs an initial window (slow start), which transport roce does not have; "
     "roce runs: none, window, dcqcn, dctcp, timely, timely_patched, hpcc, swift, powertcp, "
     "powertcp_delay"},
    {"\"cc\":{\"kind\":\"newreno\"}", NULL, NULL, "cc.kind: newreno needs"},
    {"\"transport\":{\"kind\":\"tcp\"},\"cc\":{\"kind\":\"dcqcn\"}", NULL, NULL,
     "cc.kind: dcqcn needs notifications (CNPs, or CE echoed on ACKs), which transport tcp does "
     "not have; tcp runs: none, window, dctcp, swift, tally, newreno, cubic"},
    {"\"transport\":{\"kind\":\"tcp\",\"mss\":\"8950B\"}", NULL, NULL,
     "transport.mss: with its headers (40 B, and 12 B of timestamps) exceeds the MTU of 9000 B"},
    {"\"transport\":{\"kind\":\"tcp\",\"receive_window\":\"1447B\"}", NULL, NULL,
     "transport.receive_window: must have room for one segment"},
    {"\"transport\":{\"kind\":\"tcp\",\"read_resume\":\"1ms\"}", NULL, NULL,
     "transport.read_resume: must be later than read_stop"},
    {"\"transport\":{\"kind\":\"tcp\",\"delayed_ack\":{\"segment\":2}}", NULL, NULL,
     "transport.delayed_ack.segment: unknown key; did you mean \"segments\"?"},
    {"\"transport\":{\"kind\":\"tcp\"},\"limits\":{\"stall\":\"199ms\"}", NULL, NULL,
     "limits.stall: is below transport.rto_min 0.2s of tcp"},
    {"\"transport\":{\"kind\":\"tcp\"},\"cc\":{\"kind\":\"hpcc\"}", NULL, NULL,
     "cc.kind: hpcc needs in-band telemetry"},
    {"\"transport\":{\"kind\":\"tcp\"},\"cc\":{\"kind\":\"timely\"}", NULL, NULL,
     "cc.kind: timely needs paced flows in a lossless class"},
    {NULL, "{\"kind\":\"switch\",\"size\":4,\"cc\":{\"kind\":\"newreno\"}}", NULL,
     "topology.dims[0].cc.kind: newreno needs"},
    // transport
    {"\"transport\":{\"kind\":\"sctp\"}", NULL, NULL,
     "transport.kind: unknown transport kind \"sctp\""},
    {"\"transport\":{\"mtu\":\"63B\"}", NULL, NULL, "transport.mtu: 63B is below"},
    {"\"transport\":{\"wire_overhead\":\"ethernt\"}", NULL, NULL, "did you mean \"ethernet\"?"},
    {"\"transport\":{\"wire_overhead\":{\"data\":\"36B\"}}", NULL, NULL,
     "transport.wire_overhead.ack: is required"},
    {"\"transport\":{\"recovery\":\"go_back\"}", NULL, NULL, "transport.recovery: \"go_back\" is"},
    // cc
    {"\"cc\":\"dcqcn\"", NULL, NULL, "cc: must be an object, not a string"},
    {"\"cc\":{}", NULL, NULL, "cc.kind: is required: a policy"},
    {"\"cc\":{\"kind\":\"foo\"}", NULL, NULL, "cc.kind: unknown policy \"foo\""},
    {"\"cc\":{\"kind\":\"dcqnc\"}", NULL, NULL, "did you mean \"dcqcn\"?"},
    {"\"cc\":{\"kind\":\"vegas\"}", NULL, NULL, "cc.kind: unknown policy \"vegas\""},
    {"\"cc\":{\"kind\":\"dcqcn\",\"preset\":\"papr\"}", NULL, NULL, "did you mean \"paper\"?"},
    {"\"cc\":{\"kind\":\"none\",\"k\":1}", NULL, NULL, "cc.k: unknown key"},
    {"\"cc\":{\"kind\":\"dcqcn\",\"rate_ai\":\"fast\"}", NULL, NULL, "cc.rate_ai: \"fast\" is not"},
    // workload
    {NULL, NULL, "[]", "workload: must not be empty"},
    {NULL, NULL, "[" JOB ",{\"kind\":\"permutation\",\"bytes\":\"1mb\"}]",
     "workload[1].bytes: \"1mb\" is not a size"},
    {NULL, NULL, "{\"kind\":\"training\",\"file\":\"none.txt\"}", "none.txt: cannot be opened"},
    {NULL, NULL, TRAIN(",\"file\":\"x.txt\""), "workload.layers: cannot be combined with `file`"},
    {NULL, NULL, TRAIN(",\"system\":{\"endpoint-dealy\":1}"),
     "workload.system.endpoint-dealy: unknown key; did you mean \"endpoint-delay\"?"},
    {NULL, NULL, TRAIN(",\"system\":\"none.txt\""), "none.txt: cannot be opened"},
    {NULL, NULL, TRAIN(",\"ranks\":[0,1,2],\"dims\":[2,2]"),
     "workload.dims: the sizes do not multiply to the job's 3 ranks"},
    {NULL, NULL, TRAIN(",\"iterations\":0"), "workload.iterations: 0 is below"},
    {NULL, NULL,
     "{\"kind\":\"training\",\"parallelism\":\"HYBRID_TRANSFORMER\",\"model_parallel\":3," LAYERS
     "}",
     "a model-parallel group of 3 does not divide 4 ranks"},
    {NULL, NULL, "{\"kind\":\"incst\"}", "did you mean \"incast\"?"},
    {NULL, NULL, "{\"kind\":\"flows\"}", "workload.flows: is required"},
    {NULL, NULL, "{\"kind\":\"flows\",\"flows\":[]}", "workload.flows: must not be empty"},
    {NULL, NULL, FLOWS("{\"src\":0,\"dst\":4,\"bytes\":1}"),
     "workload.flows[0].dst: rank 4 is not one of the network's 4 (0 to 3)"},
    {NULL, NULL, FLOWS("{\"src\":1,\"dst\":1,\"bytes\":1}"),
     "workload.flows[0]: src and dst are both"},
    {NULL, NULL, FLOWS("{\"src\":0,\"dst\":1,\"bytes\":1,\"size\":2}"),
     "workload.flows[0].size: unknown key"},
    {NULL, NULL, "{\"kind\":\"flows\",\"file\":\"none.csv\"}", "none.csv: cannot be opened"},
    {NULL, NULL, "{\"kind\":\"flows\",\"file\":\"x\",\"flows\":[]}",
     "workload.file: cannot be combined with `flows`"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":1,\"shift\":4}",
     "workload.shift: 4 sends every one of 4 ranks to itself"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":1,\"ranks\":[0,2,0]}",
     "workload.ranks[2]: rank 0 is listed twice"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":1,\"ranks\":[0,9]}",
     "workload.ranks[1]: rank 9 is not one of"},
    {NULL, NULL, "{\"kind\":\"permutation\",\"bytes\":1,\"ranks\":[]}",
     "workload.ranks: must not be empty"},
    {NULL, NULL, "{\"kind\":\"incast\",\"bytes\":1,\"senders\":4}", "workload.senders: 4 senders"},
    {NULL, NULL, "{\"kind\":\"incast\",\"bytes\":1,\"senders\":0}", "workload.senders: 0 senders"},
    {NULL, NULL, "{\"kind\":\"incast\",\"bytes\":1,\"receiver\":4}",
     "workload.receiver: rank 4 is"},
    {NULL, NULL, "{\"kind\":\"incast\",\"bytes\":1,\"senders\":[1,0]}",
     "workload.senders[1]: rank 0 is the receiver"},
    {NULL, NULL, "{\"kind\":\"incast\",\"bytes\":1,\"senders\":[1,1]}",
     "workload.senders[1]: rank 1 is listed twice"},
    {NULL, NULL, "{\"kind\":\"collective\",\"op\":\"reduce\"}", "workload.bytes: is required"},
    {NULL, NULL, "{\"kind\":\"collective\",\"op\":\"reduce\",\"bytes\":0}",
     "nothing would be sent"},
    {NULL, NULL, "{\"kind\":\"collective\",\"op\":\"reduce\",\"bytes\":9,\"root\":99}",
     "workload.root: rank 99 is not one of"},
    {NULL, NULL, "{\"kind\":\"collective\",\"op\":\"reduce\",\"bytes\":9,\"algorithm\":[\"ring\"]}",
     "give one algorithm, not a list"},
    {NULL, NULL, "{\"kind\":\"collective\",\"op\":\"allreduce\",\"bytes\":1}",
     "did you mean \"all_reduce\"?"},
    {NULL, NULL, "{" COLL ",\"algorithm\":\"rng\"}", "did you mean \"ring\"?"},
    {NULL, NULL, "{" COLL ",\"algorithm\":[\"ring\",\"ring\"]}",
     "workload.algorithm: lists 2 algorithms for 1 dimensions"},
    {NULL, DIM "," DIM, "{" COLL ",\"algorithm\":[\"ring\",\"ring\"],\"ranks\":[0,1,2]}",
     "workload.dims: is required: the job has 3 of the network's 16 ranks"},
    {NULL, DIM "," DIM, "{" COLL ",\"algorithm\":[\"ring\",\"ring\"],\"dims\":[4,5]}",
     "workload.dims: the sizes do not multiply to the job's 16 ranks"},
    {NULL, DIM, "{" COLL ",\"dims\":[4,4]}",
     "workload.dims: is used only with a list of algorithms"},
    {NULL, DIM, "{" COLL ",\"stride\":4}",
     "workload.stride: is used only with mapping \"strided\""},
    {NULL, NULL, "{" COLL ",\"order\":\"lfio\"}", "did you mean \"lifo\"?"},
    {NULL, NULL, "{" COLL ",\"ring_directions\":3}", "workload.ring_directions: 3 is above"},
    // output
    {"\"capture\":{}", NULL, NULL, "capture: must be a list, not an object"},
    {"\"capture\":[{\"at\":\"rank0\"}]", NULL, NULL, "capture[0].file: is required"},
    {"\"capture\":[{\"at\":\"rank0\",\"file\":\"/x\"}]", NULL, NULL,
     "capture[0].file: \"/x\" is an abs"},
    {"\"capture\":[{\"at\":\"rank0\",\"file\":\"a/../../x\"}]", NULL, NULL, "must stay inside"},
    {"\"capture\":[{\"at\":\"rank0\",\"file\":\"metrics.json\"}]", NULL, NULL, "of a result file"},
    {"\"capture\":[{\"at\":\"a\",\"file\":\"x\"},{\"at\":\"b\",\"file\":\"x\"}]", NULL, NULL,
     "capture[1].file: capture[0] has the same file"},
    {"\"capture\":[{\"at\":\"a\",\"file\":\"x\",\"snaplen\":53}]", NULL, NULL,
     "capture[0].snaplen: 53"},
    {"\"limits\":{\"events\":0}", NULL, NULL, "limits.events: 0 is below the minimum 1"},
    {"\"report\":{\"sample_at\":[1]}", NULL, NULL, "report.sample_at[0]: must be a place"},
};

static void scenario_text(char *text, size_t room, const struct mistake *m)
{
    snprintf(text, room, "{\"name\":\"t\",%s%s\"topology\":{\"dims\":[%s]},\"workload\":%s}",
             m->root != NULL ? m->root : "", m->root != NULL ? "," : "",
             m->dims != NULL ? m->dims : DIM, m->job != NULL ? m->job : JOB);
}

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char text[2048];
        struct err err = {0};
        scenario_text(text, sizeof text, &mistakes[i]);
        struct scenario *scenario = load(text, &err);
        assert_said(&err, text, mistakes[i].want);
        assert_null(scenario);
        err_free(&err);
    }
}

// Texts that are not scenarios.
static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "line 1"},
        {"[]", "a scenario must be an object, not a list"},
        {"7", "a scenario must be an object, not a number"},
        {"{", "not JSON"},
        {"{\n  \"name\": \"a\",\n  \"seed\": }\n", "line 3, column"},
        {"{} x", "not JSON"},
        {"{\"a\":1,\"a\":2}", "duplicate object key"},
        {"\xff\xfe\x01\x80", "not JSON"},
        {"{\"seed\": 99999999999999999999}", "too big integer"},
        {"{}", "name: is required"},
        {"{}", "topology: is required"},
        {"{}", "workload: is required"},
        {"{\"name\":\"a b\"}", "name: \"a b\" must be letters"},
        {"{\"name\":\"\"}", "name: \"\" must be letters"},
        {"{\"name\":\"..\"}", "name: \"..\" is not a name"},
        {"{\"topology\":{\"astra\":\"x\"}}", "x: cannot be opened"},
        {"{\"topology\":{\"dims\":{}}}", "topology.dims: must be a list, not an object"},
        {"{\"workload\":[[]]}", "workload[0]: must be an object, not a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        assert_null(load(cases[i].text, &err));
        assert_said(&err, cases[i].text, cases[i].want);
        err_free(&err);
    }
    struct err err = {0};
    assert_null(load_text("{\"a\":\0}", 7, NULL, 0, &err));
    struct policies policies = policies_builtin(NULL);
    assert_null(scenario_load(folder, NULL, 0, &policies, &err));
    assert_said(&err, folder, "is a directory");
    assert_null(scenario_load("/nowhere/s.json", NULL, 0, &policies, &err));
    assert_said(&err, "missing file", "/nowhere/s.json: cannot be opened");
    err_free(&err);
}

static void test_all_at_once(void **state)
{
    (void)state;
    static const char *const wants[] = {"seeed: unknown",          "switch.buffer: \"1\"x\"",
                                        "transport.mtu: 1B",       "cc.preset: unknown",
                                        "topology.dims[0].spines", "workload.bytes: is required",
                                        "limits.stall: must be"};
    const char *text =
        "{\"name\":\"t\",\"seeed\":1,\"switch\":{\"buffer\":\"1\\\"x\"},"
        "\"transport\":{\"mtu\":\"1B\"},\"cc\":{\"kind\":\"dcqcn\",\"preset\":\"x\"},"
        "\"topology\":{\"dims\":[{" LEAF ",\"ranks_per_leaf\":4}]},"
        "\"workload\":{\"kind\":\"permutation\"},"
        "\"limits\":{\"stall\":null}}";
    struct err err = {0};
    assert_null(load(text, &err));
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        assert_said(&err, text, wants[i]);
    assert_int_equal(err.n_errors, sizeof wants / sizeof *wants);
    err_free(&err);
}

static void test_flow_file_mistakes(void **state)
{
    (void)state;
    static const char list[] = "src,dst,bytes,start_ns\n0,1,5,0\n0,1\n0,x,5,0\n0,1,0,0\n0,1,5,-1\n";
    static const char ranks[] = "0,1,5,0\n0,9,5,0\n2,2,5,0\n";
    static const char *const wants[] = {"workload.file: f.csv, line 3: is not src,dst",
                                        "line 4: dst is not a rank", "line 5: bytes is not",
                                        "line 6: start_ns is not"};
    const char *text = "{\"name\":\"t\",\"topology\":{\"dims\":[" DIM
                       "]},\"workload\":{\"kind\":\"flows\",\"file\":\"f.csv\"}}";
    struct err err = {0};
    file_write("f.csv", list, sizeof list - 1);
    assert_null(load(text, &err));
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        assert_said(&err, text, wants[i]);
    err_free(&err);
    file_write("f.csv", ranks, sizeof ranks - 1);
    assert_null(load(text, &err));
    assert_said(&err, text, "workload.file: f.csv, flow 2: rank 9 is not one of");
    assert_said(&err, text, "workload.file: f.csv, flow 3: src and dst are both rank 2");
    err_free(&err);
    file_remove("f.csv");
}

static void test_set_mistakes(void **state)
{
    (void)state;
    static const struct {
        struct collwire_setting set;
        const char *want;
    } cases[] = {
        {{"", "1"}, "invalid path"},
        {{".seed", "1"}, ".seed: --set: invalid path"},
        {{"seed.", "1"}, "seed.: --set: invalid path"},
        {{"a..b", "1"}, "invalid path"},
        {{"[0]", "1"}, "invalid path"},
        {{"workload[x]", "1"}, "invalid path"},
        {{"topology.dims[1].size", "1"}, "--set: [1] is not one of 1 items"},
        {{"topology.dims[1]", "1"}, "--set: [1] is not one of 1 items"},
        {{"workload[0].bytes", "1"}, "--set: an object has no item [0]"},
        {{"name.x", "1"}, "name.x: --set: a string has no key \"x\""},
        {{"topology.dims.0.size", "4"},
         "--set: a list has no key \"0\"; write topology.dims[0].size"},
        {{"name.x.y", "1"}, "--set: a string has no key \"x\""},
        {{"swich.buffer", "1MB"}, "swich: unknown key; did you mean \"switch\"?"},
        {{"seed", "nine"}, "seed: must be a whole number, not a string"},
        {{"seed", "\xff"}, "--set: the value is not UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        assert_null(load_text(GOOD, strlen(GOOD), &cases[i].set, 1, &err));
        assert_said(&err, cases[i].set.path, cases[i].want);
        err_free(&err);
    }
}

// A list of `n` numbers instead of jobs: too many are one error, otherwise there is an error for
// each.
static void assert_jobs(size_t n, const char *want)
{
    struct err err = {0};
    char *text = malloc(100 + 2 * n);
    size_t at =
        (size_t)sprintf(text, "{\"name\":\"t\",\"topology\":{\"dims\":[" DIM "]},\"workload\":[7");
    for (size_t i = 1; i < n; i++)
        at += (size_t)sprintf(text + at, ",7");
    sprintf(text + at, "]}");
    assert_null(load(text, &err));
    assert_said(&err, "many jobs", want);
    err_free(&err);
    free(text);
}

// The index of a job has 14 bits in the token of a message.
static void test_too_many_jobs(void **state)
{
    (void)state;
    assert_jobs(16385, "workload: 16385 jobs are more than 16384");
    assert_jobs(16384, "workload[0]: must be an object, not a number");
}

// What follows from an error is not reported as another one.
static void test_no_follow_ups(void **state)
{
    (void)state;
    static const struct {
        const char *job, *want;
    } cases[] = {
        {"\"bytes\":\"64Mb\"", "workload.bytes: \"64Mb\" is not a size"},
        {"\"bytes\":\"-5MB\"", "workload.bytes: \"-5MB\" is not a size"},
        {"\"bytes\":0", "workload.bytes: 0 bytes: nothing would be sent"},
        {"\"bytes\":\"1MB\",\"ranks\":\"0-15\",\"algorithm\":[\"ring\",\"ring\"]",
         "workload.ranks: must be a list of ranks like [0, 1, 2, 3], not a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct err err = {0};
        snprintf(text, sizeof text,
                 "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":4}]},"
                 "\"workload\":{\"kind\":\"collective\",\"op\":\"all_reduce\",%s}}",
                 cases[i].job);
        assert_null(load(text, &err));
        assert_said(&err, text, cases[i].want);
        assert_int_equal(err.n_items, 1);
        err_free(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_follow_ups),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_flow_file_mistakes),
        cmocka_unit_test(test_set_mistakes),
        cmocka_unit_test(test_too_many_jobs),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
