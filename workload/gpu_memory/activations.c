// SPDX-License-Identifier: MIT
// Activations of a transformer layer.
//
// With elements of 2 bytes and masks of 1 byte a layer of b sequences keeps sbh (34 + 5as/h) bytes
// on one rank, sbh (10 + 24/t + 5as/(ht)) with tensor parallelism, sbh (34 + 5as/h)/t with sequence
// parallelism, 34 sbh/t where selective recomputation leaves out attention's scores, and 2 sbh
// where only the layer's input is kept: Korthikanti et al., MLSys 2023 (arXiv 2205.05198), sections
// 4.1, 4.2.1, 4.2.2, 5 and table 2. The terms below are those of section 4.1, one by one, for any
// size of elements, of keys and values, and of the feed-forward part, with or without dropout.
//
// Where it differs: with sequence parallelism the kept input of a recomputed layer is divided by t,
// as its exchange in the traffic is (the paper's table does not divide it). Context parallelism
// keeps the gathered keys and values of the whole sequence, since the backward pass does not gather
// them again (workload/llm/llm_source.c). A layer of experts keeps, for each of its rows, the
// router's input, the expert's input and output, and the products within (our extension; with
// dense rows it has the terms of the feed-forward part).
#include "workload/gpu_memory/transformer.h"

#include <math.h>
#include <stddef.h>

#define MASK_BYTES 1.0 // of an element of a mask of dropout
#define LOSS_BYTES 4.0 // of a logit: single precision

// Bytes of a micro-batch on one rank, by what divides them.
struct layer_terms {
    double rows;   // by the sequence, where sequence parallelism divides it
    double tensor; // by t
    double scores; // attention's softmax and dropout: by t
};

static double tokens(const struct transformer_training *t)
{
    return (double)t->layout.micro_batch * (double)t->model.sequence / (double)t->layout.context;
}

// The divisor of what tensor-parallel ranks each have in full without sequence parallelism.
static double row_share(const struct transformer_training *t)
{
    return t->layout.sequence_parallel ? (double)t->layout.tensor : 1;
}

double transformer_even_rows(const struct transformer_training *t)
{
    return tokens(t) * (double)t->model.top_k;
}

// Attention, its norm and its mask, and the norm after it.
static struct layer_terms attention_terms(const struct transformer_training *t)
{
    const struct transformer *m = &t->model;
    double n = tokens(t), h = (double)m->hidden, element = (double)t->layout.activation_bytes;
    double mask = m->dropout ? MASK_BYTES : 0;
    double keys = 2 * element * (double)t->layout.context * transformer_kv_hidden(t);
    double score = (double)m->heads * (double)m->sequence;
    return (struct layer_terms){
        .rows = n * h *
                (element               // input of the norm before attention
                 + element             // input of query, key and value
                 + mask                // after the projection
                 + element),           // input of the norm before the feed-forward part
        .tensor = n * (element * h     // query
                       + keys          // keys and values
                       + element * h), // input of the projection
        .scores = n * score * (element + (m->dropout ? mask + element : 0))};
}

static void add_dense(const struct transformer_training *t, struct layer_terms *terms)
{
    const struct transformer *m = &t->model;
    double n = tokens(t), h = (double)m->hidden, element = (double)t->layout.activation_bytes;
    // input and output of the activation function; a gated part has two inputs
    double within = (m->gated ? 3 : 2) * element * (double)m->ffn;
    terms->rows += n * h * (element + (m->dropout ? MASK_BYTES : 0));
    terms->tensor += n * within;
}

static void add_experts(const struct transformer_training *t, double rows,
                        struct layer_terms *terms)
{
    const struct transformer *m = &t->model;
    double n = tokens(t), h = (double)m->hidden, element = (double)t->layout.activation_bytes;
    double within = (m->gated ? 3 : 2) * element * (double)m->expert_ffn;
    terms->rows += n * h * (element + (m->dropout ? MASK_BYTES : 0)); // router's input, mask
    terms->rows += rows * h * 2 * element;                            // of the experts, and output
    terms->tensor += rows * within;
}

struct kept_activations transformer_layer_activations(const struct transformer_training *t,
                                                      uint32_t layer, double rows)
{
    struct layer_terms terms = attention_terms(t);
    double n = tokens(t), h = (double)t->model.hidden, ranks = (double)t->layout.tensor;
    if (transformer_is_moe(&t->model, layer))
        add_experts(t, rows, &terms);
    else
        add_dense(t, &terms);
    double scores = terms.scores / ranks,
           all = terms.rows / row_share(t) + terms.tensor / ranks + scores;
    if (t->layout.recompute == RECOMPUTE_SELECTIVE)
        return (struct kept_activations){all - scores, scores};
    if (t->layout.recompute == RECOMPUTE_NONE)
        return (struct kept_activations){all, 0};
    double input = n * h * (double)t->layout.activation_bytes / row_share(t);
    return (struct kept_activations){input, all - input};
}

// The embedding keeps its mask (section 4.3), the last stage the inputs of the last norm and of the
// logits, and the logits in single precision.
static double embedding_bytes(const struct transformer_training *t)
{
    return t->model.dropout ? tokens(t) * (double)t->model.hidden * MASK_BYTES / row_share(t) : 0;
}

static double loss_bytes(const struct transformer_training *t)
{
    double element = (double)t->layout.activation_bytes;
    return tokens(t) * (2 * element * (double)t->model.hidden / row_share(t) +
                        LOSS_BYTES * (double)t->model.vocabulary / (double)t->layout.tensor);
}

struct kept_activations transformer_chunk_activations(const struct transformer_training *t,
                                                      uint32_t stage, uint32_t chunk,
                                                      const double *rows)
{
    const struct pipeline *p = &t->layout.pipeline;
    uint32_t place = chunk * p->stages + stage;
    struct layer_span span = transformer_chunk_layers(t, place);
    uint32_t n = span.n, first = span.first;
    bool alike = rows == NULL && t->model.experts == 0; // all layers keep the same
    double even = transformer_even_rows(t);
    struct kept_activations sum = {0};
    for (uint32_t i = 0; i < n && !(alike && i > 0); i++) {
        struct kept_activations one =
            transformer_layer_activations(t, first + i, rows != NULL ? rows[first + i] : even);
        sum.kept_bytes += one.kept_bytes * (alike ? n : 1);
        sum.recomputed_bytes = fmax(sum.recomputed_bytes, one.recomputed_bytes);
    }
    if (place == 0)
        sum.kept_bytes += embedding_bytes(t);
    if (place + 1 == p->stages * p->chunks)
        sum.kept_bytes += loss_bytes(t);
    return sum;
}
