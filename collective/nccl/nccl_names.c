// SPDX-License-Identifier: MIT
#include "collective/nccl/nccl.h"

const char *nccl_library_name(bool rccl) { return rccl ? "RCCL" : "NCCL"; }

const char *nccl_version_name(enum nccl_version version)
{
    static const char *const names[NCCL_VERSIONS] = {"2.21.5", "2.27.7", "2.30.7"};
    return names[version];
}

const char *nccl_function_name(enum nccl_function function)
{
    static const char *const names[NCCL_FUNCTIONS] = {"Broadcast", "Reduce", "AllGather",
                                                      "ReduceScatter", "AllReduce"};
    return names[function];
}

const char *nccl_algorithm_name(enum nccl_algorithm algorithm)
{
    static const char *const names[NCCL_ALGORITHMS] = {
        "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
    return names[algorithm];
}

const char *nccl_protocol_name(enum nccl_protocol protocol)
{
    static const char *const names[NCCL_PROTOCOLS] = {"LL", "LL128", "Simple"};
    return names[protocol];
}
