// SPDX-License-Identifier: MIT
// For a layer Y = X W (M x K by K x N), the input gradient is dY W' (M x N by N x K) and the weight
// gradient X' dY (K x M by M x N).
//
// Roofline: max(2 M N K / peak, bytes of all three matrices / memory bandwidth) (Williams,
// Waterman, Patterson, CACM 2009). Tiles: workload/kernels/product.h. Systolic array of R x C: (2R
// + C + T
// - 2) ceil(S_R/R) ceil(S_C/C) cycles, with S_R, S_C, T = M, N, K output stationary; K, N, M
// weight stationary; K, M, N input stationary (Samajdar et al., SCALE-Sim, ISPASS 2020, section
// III: equations 1 to 4 and table III). These equations do not include memory stalls.
//
// Data parallel: every rank has all weights; the weight gradients are all-reduced. Model parallel:
// a rank has N/g columns of W; the outputs are all-gathered, and the input gradients, which are
// partial sums on each rank, are all-reduced (Shoeybi et al., Megatron-LM, 2019, section 3, for one
// column-parallel layer). Hybrid: model parallel inside dimension 0, data parallel over the others.
#include "workload/training/gemm.h"

#include <math.h>

#include "collective/algorithm/collective.h"
#include "engine/base/memory.h"
#include "workload/kernels/product.h"

#define NS_MAX 1e18 // limit of a time in ns
#define GP(f) offsetof(struct gemm_params, f)

static const char *const computes[] = {"roofline", "systolic", "tiles", NULL};
static const char *const dataflows[] = {"os", "ws", "is", NULL};
const char *const gemm_parallels[] = {"data", "model", "hybrid", NULL};

const char *const gemm_tile_keys[] = {"gpu", "type", "weight_bytes", "sparsity", "density", NULL};

const struct param gemm_params[] = {
    PARAM_ROW("compute", ENUM, GP(compute), .def = "roofline", .choices = computes,
              .help = "model of the time of a matrix product"),
    PARAM_ROW("element", BYTES, GP(element_bytes), .def = "2B", .min = "1B", .max = "16B",
              .help = "size of a matrix element"),
    PARAM_ROW("group", COUNT, GP(group), .def = "1", .min = "1", .max = "65536",
              .help = "model, hybrid: ranks that share a layer's weights; hybrid: the size of "
                      "dimension 0"),
    PARAM_ROW("tflops", RATIO, GP(tflops), .def = "312", .min = "0.001", .max = "1000000",
              .help = "roofline: peak in 1e12 operations a second",
              .source = "NVIDIA A100 data sheet, 16-bit tensor"),
    PARAM_ROW("memory_gbs", RATIO, GP(memory_gbs), .def = "1555", .min = "0.001", .max = "1000000",
              .help = "roofline: memory bandwidth in 1e9 bytes a second",
              .source = "NVIDIA A100 data sheet, 40 GB"),
    PARAM_ROW("array_height", COUNT, GP(array_height), .def = "128", .min = "1", .max = "65536",
              .help = "systolic: rows", .source = "TPU v2 to v4"),
    PARAM_ROW("array_width", COUNT, GP(array_width), .def = "128", .min = "1", .max = "65536",
              .help = "systolic: columns"),
    PARAM_ROW("dataflow", ENUM, GP(dataflow), .def = "os", .choices = dataflows,
              .help = "systolic: what stays in place, outputs, weights or inputs",
              .source = "Samajdar et al., ISPASS 2020"),
    PARAM_ROW("clock_ghz", RATIO, GP(clock_ghz), .def = "1", .min = "0.001", .max = "1000",
              .help = "systolic: clock"),
    PARAM_ROW("gpu", ENUM, GP(gpu), .def = "a100", .choices = device_names,
              .help = "tiles: peaks, multiprocessors and memory bandwidth",
              .source = "data sheets"),
    PARAM_ROW("type", ENUM, GP(type), .def = "16bit", .choices = number_types,
              .help = "tiles: of the factors"),
    PARAM_ROW("weight_bytes", RATIO, GP(weight_bytes), .def = "0", .min = "0", .max = "16",
              .help = "tiles: of a stored weight, less than the type's where only weights are "
                      "quantised; 0 = the type's"),
    PARAM_ROW("sparsity", ENUM, GP(sparsity), .def = "none", .choices = sparsities,
              .help = "tiles: of weights, forward and for the gradients of inputs",
              .source = "Mishra et al., 2021; Gale et al., SC 2020"),
    PARAM_ROW("density", RATIO, GP(density), .def = "0.1", .min = "0.000001", .max = "1",
              .help = "tiles: share of weights that are not 0, where they are unstructured"),
    PARAM_ROW("update_delay", TIME, GP(update_delay_ps), .def = "0ns", .max = "1s",
              .help = "after each collective of a layer"),
};
const size_t n_gemm_params = sizeof gemm_params / sizeof *gemm_params;

static uint64_t ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

uint64_t gemm_cycles(const struct gemm_params *p, uint64_t m, uint64_t n, uint64_t k)
{
    bool output = p->dataflow == GEMM_OUTPUT_STATIONARY;
    bool weight = p->dataflow == GEMM_WEIGHT_STATIONARY;
    uint64_t rows = output ? m : k, columns = output || weight ? n : m;
    uint64_t streamed = output ? k : weight ? m : n;
    uint64_t fold = 2 * p->array_height + p->array_width + streamed - 2, cycles;
    uint64_t folds = ceil_div(rows, p->array_height) * ceil_div(columns, p->array_width);
    return __builtin_mul_overflow(fold, folds, &cycles) ? UINT64_MAX : cycles;
}

static double roofline_ns(const struct gemm_params *p, double m, double n, double k)
{
    double compute = 2 * m * n * k / (p->tflops * 1e3);
    double memory = (m * k + k * n + m * n) * (double)p->element_bytes / p->memory_gbs;
    return compute > memory ? compute : memory;
}

static struct kernel_gpu gpu_of(const struct gemm_params *p)
{
    return kernel_gpu_of((enum device_name)p->gpu, devices[p->gpu].peak_tflops,
                         devices[p->gpu].memory_gbps);
}

const char *gemm_refused(const struct gemm_params *p, const char **key)
{
    struct kernel_gpu gpu = gpu_of(p);
    if (p->compute != GEMM_TILES)
        return NULL;
    *key = "sparsity";
    if (p->sparsity == SPARSITY_STRUCTURED && !gpu.structured)
        return "this GPU has no units for 2:4";
    *key = "type";
    return gpu.flops_ps[p->type] > 0 ? NULL : "this GPU has no matrix units for it: 16bit";
}

static double tiles_ns(const struct gemm_params *p, double m, double n, double k, bool weights)
{
    struct kernel_gpu gpu = gpu_of(p);
    struct product product = {.m = m,
                              .n = n,
                              .k = k,
                              .count = 1,
                              .type = (enum number_type)p->type,
                              .weight_bytes = weights ? p->weight_bytes : 0,
                              .sparsity = weights ? (enum sparsity)p->sparsity : SPARSITY_NONE,
                              .density = p->density};
    return product_ps(&gpu, &product) * 1e-3;
}

uint64_t gemm_ns(const struct gemm_params *p, uint64_t m, uint64_t n, uint64_t k, bool weights)
{
    double ns;
    switch (p->compute) {
    case GEMM_ROOFLINE:
        ns = roofline_ns(p, (double)m, (double)n, (double)k);
        break;
    case GEMM_TILES:
        ns = tiles_ns(p, (double)m, (double)n, (double)k, weights);
        break;
    default:
        ns = (double)gemm_cycles(p, m, n, k) / p->clock_ghz;
    }
    return ns < NS_MAX ? (uint64_t)ceil(ns) : (uint64_t)NS_MAX;
}

static struct training_layer layer_of(const struct gemm *g, enum gemm_parallel parallel,
                                      const struct gemm_params *p, int keyword)
{
    uint64_t shares = parallel == GEMM_DATA ? 1 : p->group, n = ceil_div(g->n, shares);
    uint64_t weights = g->k * n * p->element_bytes;
    struct training_layer layer = {.name = memory_text(g->name),
                                   .update_delay_ns = (uint64_t)(p->update_delay_ps / PS_PER_NS),
                                   .keyword = keyword};
    layer.parts[TRAINING_FWD] =
        (struct training_step){.compute_ns = gemm_ns(p, g->m, n, g->k, true), .op = TRAINING_NO_OP};
    layer.parts[TRAINING_IG] =
        (struct training_step){.compute_ns = gemm_ns(p, g->m, g->k, n, true), .op = TRAINING_NO_OP};
    layer.parts[TRAINING_WG] = (struct training_step){
        .compute_ns = gemm_ns(p, g->k, n, g->m, false), .op = TRAINING_NO_OP};
    if (parallel != GEMM_DATA) {
        layer.parts[TRAINING_FWD].op = COLL_ALL_GATHER;
        layer.parts[TRAINING_FWD].bytes = g->m * n * p->element_bytes;
        layer.parts[TRAINING_IG].op = COLL_ALL_REDUCE;
        layer.parts[TRAINING_IG].bytes = g->m * g->k * p->element_bytes;
    }
    if (parallel != GEMM_MODEL) {
        layer.parts[TRAINING_WG].op = COLL_ALL_REDUCE;
        layer.parts[TRAINING_WG].bytes = weights;
    }
    return layer;
}

struct training_spec gemm_training(const struct gemm *layers, size_t n, enum gemm_parallel parallel,
                                   const struct gemm_params *p)
{
    static const int keywords[] = {TRAINING_DATA, TRAINING_MODEL, TRAINING_HYBRID_DATA_MODEL};
    struct training_spec spec = {.keyword = keywords[parallel], .n_layers = n};
    spec.layers = memory_zeroed(n, sizeof *spec.layers);
    for (size_t i = 0; i < n; i++)
        spec.layers[i] = layer_of(&layers[i], parallel, p, spec.keyword);
    return spec;
}
