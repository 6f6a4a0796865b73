// SPDX-License-Identifier: MIT
// A table of words that are often written for others.
#include "engine/text/synonyms.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "engine/base/err.h"

// Of several meanings the first one whose key the object has.
static const struct synonym {
    const char *word, *meaning;
} synonyms[] = {
    /* keys of dimensions and links */
    {"rate", "link.rate"},
    {"delay", "link.delay"},
    {"bandwidth", "rate"},
    {"bandwidth", "link.rate"},
    {"bw", "rate"},
    {"bw", "link.rate"},
    {"speed", "rate"},
    {"speed", "link.rate"},
    {"latency", "delay"},
    {"latency", "link.delay"},
    {"propagation_delay", "delay"},
    {"propagation_delay", "link.delay"},
    {"ranks", "size"},
    {"nodes", "size"},
    {"gpus", "size"},
    {"npus", "size"},
    {"hosts", "size"},
    {"n", "size"},
    {"count", "size"},
    {"gpus_per_leaf", "ranks_per_leaf"},
    {"hosts_per_leaf", "ranks_per_leaf"},
    {"spine", "spines"},
    {"oversubscription", "spines"},
    {"uplink", "trunk"},
    /* keys of jobs */
    {"size", "bytes"},
    {"message_size", "bytes"},
    {"msg_size", "bytes"},
    {"data_size", "bytes"},
    {"algo", "algorithm"},
    {"operation", "op"},
    {"collective", "op"},
    {"iterations", "repeat"},
    {"iters", "repeat"},
    {"iters", "iterations"},
    {"repeat", "iterations"},
    {"source", "src"},
    {"destination", "dst"},
    {"dest", "dst"},
    {"tp", "tensor"},
    {"pp", "pipeline"},
    {"dp", "data"},
    {"ep", "expert"},
    {"cp", "context"},
    {"seq_len", "sequence"},
    {"hidden_size", "hidden"},
    {"num_layers", "layers"},
    {"batch_size", "global_batch"},
    {"batch_size", "batch"},
    /* keys of the scenario */
    {"policy", "cc"},
    {"congestion_control", "cc"},
    {"jobs", "workload"},
    {"job", "workload"},
    {"flows", "workload"},
    {"collective", "workload"},
    {"dims", "topology.dims"},
    {"buffer", "switch.buffer"},
    {"pfc", "switch.pfc"},
    {"ecn", "switch.ecn"},
    {"routing", "switch.routing"},
    {"mtu", "transport.mtu"},
    {"rto", "transport.rto"},
    {"link", "topology.dims[0].link"},
    {"captures", "capture"},
    {"sample", "report.sample"},
    /* keys of other objects */
    {"type", "kind"},
    {"algorithm", "kind"},
    {"policy", "kind"},
    {"kind", "preset"},
    {"enable", "enabled"},
    {"on", "enabled"},
    {"size", "buffer"},
    {"buffer_size", "buffer"},
    {"k", "kmin"},
    {"threshold", "kmin"},
    /* kinds */
    {"nvlink", "switch"},
    {"nvswitch", "switch"},
    {"star", "switch"},
    {"crossbar", "switch"},
    {"clos", "leaf_spine"},
    {"spine_leaf", "leaf_spine"},
    {"rail_optimized", "rail"},
    {"torus", "ring"},
    {"roce2", "roce"},
    {"rocev2", "roce"},
    {"rdma", "roce"},
    {"ultra_ethernet", "uec"},
    {"ue", "uec"},
    {"transformer", "llm"},
    {"gpt", "llm"},
    {"llama", "llm"},
    {"resnet", "cnn"},
    {"dlrm", "training"},
};

static bool begins(const char *meaning, const char *key)
{
    size_t n = strcspn(meaning, ".[");
    return strlen(key) == n && strncmp(meaning, key, n) == 0;
}

const char *word_meant(const char *word, const char *const *candidates)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        for (size_t c = 0; strcmp(synonyms[i].word, word) == 0 && candidates[c] != NULL; c++)
            if (begins(synonyms[i].meaning, candidates[c]))
                return synonyms[i].meaning;
    return err_near_miss(word, candidates);
}
