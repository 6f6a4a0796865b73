// SPDX-License-Identifier: MIT
// Activations against the published closed forms, the largest pass against a walk over all passes,
// and the least tensor-parallel degree of two models.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "workload/gpu_memory/device.h"
#include "workload/gpu_memory/optimizer.h"
#include "workload/gpu_memory/transformer.h"

// Models of Korthikanti et al., MLSys 2023, table 3: sequences of 2048, vocabulary 51200.
static const struct published {
    const char *name;
    uint64_t heads, hidden, layers, tensor, pipeline, micro_batch;
} published[] = {{"22B", 64, 6144, 48, 8, 1, 4},
                 {"GPT-3 175B", 96, 12288, 96, 8, 8, 1},
                 {"530B", 128, 20480, 105, 8, 35, 1},
                 {"1T", 160, 25600, 128, 8, 64, 1}};

static struct transformer_training training(const struct published *p)
{
    return (struct transformer_training){
        .model = {.layers = p->layers,
                  .hidden = p->hidden,
                  .heads = p->heads,
                  .kv_heads = p->heads,
                  .ffn = 4 * p->hidden,
                  .sequence = 2048,
                  .vocabulary = 51200,
                  .top_k = 2,
                  .moe_every = 1,
                  .dropout = true},
        .layout = {.tensor = p->tensor,
                   .context = 1,
                   .expert = 1,
                   .data = 1,
                   .pipeline = {PIPELINE_1F1B, (uint32_t)p->pipeline, 1, 64},
                   .micro_batch = p->micro_batch,
                   .activation_bytes = 2,
                   .bytes = {2, 2, 12}}};
}

static void near(double got, double want) { assert_true(fabs(got - want) <= 1e-12 * fabs(want)); }

// Table 2, all rows: equations 1, 2 and 4, section 4.2.1 and 5, and the stored input alone.
static void table_2(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct transformer_training t = training(&published[i]);
        double h = (double)t.model.hidden, a = (double)t.model.heads, s = 2048, n = 8;
        double sbh = s * (double)t.layout.micro_batch * h, scores = 5 * a * s / h;
        struct layer {
            uint64_t tensor;
            bool sequence_parallel;
            int recompute;
            double want;
        } layers[] = {
            {1, false, RECOMPUTE_NONE, 34 + scores},
            {8, false, RECOMPUTE_NONE, 10 + 24 / n + scores / n},
            {8, true, RECOMPUTE_NONE, (34 + scores) / n},
            {8, false, RECOMPUTE_SELECTIVE, 10 + 24 / n},
            {8, true, RECOMPUTE_SELECTIVE, 34 / n},
            {8, false, RECOMPUTE_FULL, 2},
            {1, true, RECOMPUTE_FULL, 2},
            {8, true, RECOMPUTE_FULL, 2 / n}, // the text of section 5 has it, the table does not
        };
        for (size_t j = 0; j < sizeof layers / sizeof *layers; j++) {
            t.layout.tensor = layers[j].tensor;
            t.layout.sequence_parallel = layers[j].sequence_parallel;
            t.layout.recompute = layers[j].recompute;
            struct kept_activations one = transformer_layer_activations(&t, 0, 0);
            near(one.kept_bytes, sbh * layers[j].want);
            // what is not kept is recomputed: together as much as without recomputation
            t.layout.recompute = RECOMPUTE_NONE;
            near(one.kept_bytes + one.recomputed_bytes,
                 transformer_layer_activations(&t, 0, 0).kept_bytes);
        }
    }
}

// Equation 5 (section 4.2.3): the first stage keeps L layers' activations whatever the number of
// stages is, and 1 + (p - 1)/(pv) times those of L with v chunks a stage (section 4.2.3).
static void first_stage(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct transformer_training t = training(&published[i]);
        struct pipeline *p = &t.layout.pipeline;
        t.layout.sequence_parallel = true;
        t.model.dropout = false; // so that the embedding keeps nothing
        double layer = transformer_layer_activations(&t, 0, 0).kept_bytes;
        struct transformer_peak peak = transformer_peak(&t, 0, NULL);
        double want = layer * (double)t.model.layers;
        if (p->stages == 1) // the loss is on the same stage
            continue;
        near((double)peak.footprint.bytes[FOOTPRINT_ACTIVATIONS], round(want));
        assert_int_equal(peak.kept_passes, p->stages);
        uint32_t stages = p->stages, chunks = 3;
        p->schedule = PIPELINE_INTERLEAVED;
        if (t.model.layers % (stages * chunks) != 0)
            chunks = (uint32_t)(t.model.layers / stages);
        p->chunks = chunks;
        p->micro_batches = 4 * stages;
        want *= 1 + (stages - 1.0) / (stages * (double)chunks);
        peak = transformer_peak(&t, 0, NULL);
        near((double)peak.footprint.bytes[FOOTPRINT_ACTIVATIONS], round(want));
    }
}

// Section 4.3: the first stage keeps a mask of sbh/t for each of p micro-batches; without a
// pipeline embedding, last norm and logits add (sbh/t)(1 + 4 (1 + v/h)).
static void embeddings(void **state)
{
    struct transformer_training t = training(&published[1]);
    double sbh = 2048.0 * 12288, share = sbh / 8;
    (void)state;
    t.layout.sequence_parallel = true;
    double layer = transformer_layer_activations(&t, 0, 0).kept_bytes;
    double first = (double)transformer_peak(&t, 0, NULL).footprint.bytes[FOOTPRINT_ACTIVATIONS];
    near(first, round(layer * 96 + 8 * share));
    t.layout.pipeline.stages = 1;
    double alone = (double)transformer_peak(&t, 0, NULL).footprint.bytes[FOOTPRINT_ACTIVATIONS];
    near(alone, round(layer * 96 + share * (1 + 4 * (1 + 51200 / 12288.0))));
}

// Sums over all layers are the parameters that the models are named after.
static void parameters(void **state)
{
    static const double billions[] = {22, 175, 530, 1008};
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct transformer_training t = training(&published[i]);
        t.layout.tensor = 1;
        double sum = (double)transformer_embedding_parameters(&t);
        for (uint32_t l = 0; l < t.model.layers; l++)
            sum += (double)transformer_dense_parameters(&t, l);
        assert_true(fabs(sum / 1e9 / billions[i] - 1) < 0.01);
    }
}

// The largest pass found at once is that of a walk over the whole iteration.
static void walk(void **state)
{
    static const struct pipeline pipelines[] = {
        {PIPELINE_1F1B, 1, 1, 4},         {PIPELINE_1F1B, 4, 1, 2},
        {PIPELINE_1F1B, 4, 1, 9},         {PIPELINE_GPIPE, 4, 1, 6},
        {PIPELINE_INTERLEAVED, 4, 2, 12}, {PIPELINE_INTERLEAVED, 2, 4, 2},
        {PIPELINE_INTERLEAVED, 4, 2, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++)
        for (int recompute = RECOMPUTE_NONE; recompute <= RECOMPUTE_FULL; recompute++)
            for (uint32_t stage = 0; stage < pipelines[i].stages; stage++) {
                struct transformer_training t = training(&published[0]);
                struct pipeline_pass pass;
                struct footprint within;
                uint64_t most = 0, at = 0, passes = 0;
                t.layout.recompute = recompute;
                t.layout.pipeline = pipelines[i];
                struct transformer_walk w = transformer_walk_begin(&t, stage, NULL);
                for (; transformer_walk_next(&w, &pass, &within); passes++)
                    if (footprint_total(&within) > most) {
                        most = footprint_total(&within);
                        at = passes;
                    }
                struct transformer_peak peak = transformer_peak(&t, stage, NULL);
                assert_int_equal(footprint_total(&peak.footprint), most);
                // with nothing to recompute a backward pass has what its forward pass left
                assert_true(peak.pass == at ||
                            (recompute == RECOMPUTE_NONE && peak.pass == at + 1));
                assert_int_equal(passes, pipeline_passes(&pipelines[i]));
                assert_true(fabs(w.kept_bytes) < 1 && w.kept_passes == 0);
            }
}

// Experts: as many rows as a dense layer of their size has terms, and ZeRO's replicas.
static void experts(void **state)
{
    struct transformer_training t = training(&published[0]), dense = t;
    (void)state;
    t.model.experts = 8;
    t.model.top_k = 1;
    t.model.expert_ffn = t.model.ffn;
    double n = 4 * 2048, h = 6144;
    // a row for each token: besides the dense terms the input and output of the experts
    near(transformer_layer_activations(&t, 0, n).kept_bytes,
         transformer_layer_activations(&dense, 0, 0).kept_bytes + 4 * n * h);
    // each further row adds them, and the two products of the expert, divided by t
    near(transformer_layer_activations(&t, 0, 3 * n).kept_bytes -
             transformer_layer_activations(&t, 0, n).kept_bytes,
         2 * n * (4 * h + 16 * h / 8));
    t.layout.expert = 8;
    t.layout.data = 4;
    t.layout.zero = 1;
    struct footprint f = transformer_static(&t, 0, NULL);
    double expert = 48 * (double)transformer_expert_parameters(&t, 0),
           other = 48 * (double)transformer_dense_parameters(&t, 0) +
                   2 * (double)transformer_embedding_parameters(&t);
    near((double)f.bytes[FOOTPRINT_OPTIMIZER], 12 * (expert / 4 + other / 32));
    near((double)f.bytes[FOOTPRINT_WEIGHTS], 2 * (expert + other));
}

// ZeRO 3 holds two parts at once beside the shards, ZeRO 2 the gradients of one or two.
static void gathered(void **state)
{
    struct transformer_training t = training(&published[1]);
    (void)state;
    t.layout.data = 4;
    double layer = (double)transformer_dense_parameters(&t, 0), beyond = 0.75;
    t.layout.zero = 2;
    near((double)transformer_static(&t, 1, NULL).bytes[FOOTPRINT_TEMPORARY], 2 * layer * beyond);
    t.layout.overlap = true;
    near((double)transformer_static(&t, 1, NULL).bytes[FOOTPRINT_TEMPORARY], 4 * layer * beyond);
    t.layout.zero = 3;
    near((double)transformer_static(&t, 1, NULL).bytes[FOOTPRINT_TEMPORARY], 8 * layer * beyond);
}

// Buffers of the exchanges that are not in place (docs/memory.md).
static void buffers(void **state)
{
    struct transformer_training t = training(&published[1]);
    double bsh = 2048.0 * 12288 * 2;
    (void)state;
    near((double)transformer_static(&t, 0, NULL).bytes[FOOTPRINT_COMMUNICATION], 2 * bsh);
    near((double)transformer_static(&t, 1, NULL).bytes[FOOTPRINT_COMMUNICATION], 4 * bsh);
    t.layout.sequence_parallel = true;
    near((double)transformer_static(&t, 1, NULL).bytes[FOOTPRINT_COMMUNICATION],
         2 * bsh + 4 * bsh / 8);
    t.layout.context = 4;
    near((double)transformer_static(&t, 1, NULL).bytes[FOOTPRINT_COMMUNICATION],
         (2 * bsh + 4 * bsh / 8) / 4 + 2 * bsh / 8);
}

// The least tensor-parallel degree, a power of two, with which a model on 1,024 NPUs fits.
static uint64_t least_degree(const struct published *model, uint64_t capacity_bytes)
{
    uint64_t least = 0;
    for (uint64_t tensor = 1024; tensor >= 1; tensor /= 2) {
        struct transformer_training t = training(model);
        t.layout.tensor = tensor;
        t.layout.data = 1024 / tensor;
        t.layout.zero = 2;
        t.layout.recompute = RECOMPUTE_FULL;
        t.layout.sequence_parallel = true;
        t.layout.pipeline = (struct pipeline){PIPELINE_1F1B, 1, 1, 1};
        struct transformer_peak peak = transformer_peak(&t, 0, NULL);
        if (footprint_total(&peak.footprint) <= capacity_bytes)
            least = tensor;
    }
    return least;
}

// "GPT-3 needs 16 NPUs, Transformer-1T 128" (the tutorials of ASTRA-sim; model-parallel groups with
// ZeRO 2 in Rashidi et al., ISCA 2022): the least degrees for accelerators of 32 GB and of 40 GB,
// with 16-bit weights and gradients, mixed-precision Adam, sequence parallelism, full recomputation
// and one sequence at a time. With 80 GB they would be smaller.
static void least_tensor_degrees(void **state)
{
    static const struct {
        enum device_name device;
        uint64_t gpt3, one_t;
    } cases[] = {{DEVICE_V100, 16, 128}, {DEVICE_A100_40GB, 16, 128}, {DEVICE_A100, 8, 32}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t capacity = devices[cases[i].device].memory_bytes;
        assert_int_equal(least_degree(&published[1], capacity), cases[i].gpt3);
        assert_int_equal(least_degree(&published[3], capacity), cases[i].one_t);
    }
}

// Llama 3 405B: 126 layers on 16 stages are 7 on the first and the last and 8 on the others; all
// layers once, in order, and also with virtual stages.
static void tables_as_layers(void **state)
{
    (void)state;
    struct transformer_training t = training(&published[0]);
    t.model.layers = 126;
    t.layout.tables_as_layers = true;
    t.layout.pipeline.stages = 16;
    for (t.layout.pipeline.chunks = 1; t.layout.pipeline.chunks <= 4;
         t.layout.pipeline.chunks *= 2) {
        uint32_t places = 16 * t.layout.pipeline.chunks, next = 0;
        for (uint32_t place = 0; place < places; place++) {
            struct layer_span span = transformer_chunk_layers(&t, place);
            bool edge = place == 0 || place + 1 == places;
            assert_int_equal(span.first, next);
            assert_int_equal(span.n, 128 / places - (edge ? 1 : 0));
            next += span.n;
        }
        assert_int_equal(next, 126);
    }
    t.layout.pipeline.chunks = 1;
    struct footprint first = transformer_static(&t, 0, NULL),
                     second = transformer_static(&t, 1, NULL);
    double layer = (double)transformer_dense_parameters(&t, 0),
           table = (double)transformer_embedding_parameters(&t);
    near((double)first.bytes[FOOTPRINT_WEIGHTS], 2 * (7 * layer + table));
    near((double)second.bytes[FOOTPRINT_WEIGHTS], 2 * 8 * layer);
    t.layout.pipeline.stages = 1; // both tables are here
    assert_int_equal(transformer_chunk_layers(&t, 0).n, 126);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_as_layers), cmocka_unit_test(table_2),
        cmocka_unit_test(first_stage),      cmocka_unit_test(embeddings),
        cmocka_unit_test(parameters),       cmocka_unit_test(walk),
        cmocka_unit_test(experts),          cmocka_unit_test(gathered),
        cmocka_unit_test(buffers),          cmocka_unit_test(least_tensor_degrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
