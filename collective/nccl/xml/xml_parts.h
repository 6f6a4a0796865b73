// SPDX-License-Identifier: MIT
// The elements of an algorithm's file, by their attributes, and the algorithm made of them.
#pragma once

#include "collective/nccl/xml/algorithm.h"

enum xml_element { XML_ALGO, XML_GPU, XML_TB, XML_STEP };

struct xml_parts {
    struct xml_algorithm algo; // its own attributes
    struct gpu_part {
        uint32_t id, first_block, n_blocks, line;
        uint32_t chunks[3]; // of the buffers i, o and s
    } * gpus;
    struct xml_block *blocks; // first_step: in the order of the file
    struct xml_step *steps;
    size_t n_gpus, n_blocks, n_steps, cap_gpus, cap_blocks, cap_steps;
    struct { // buffers and places of the last step, if it reduces
        bool known;
        uint32_t src, dst, place;
    } reduction;
};

#define XML_PART_ERROR 200

// Add an element, inside the last ones of the levels above; `attributes`: name, value, .., NULL.
// Writes one sentence to `error` if it cannot be right.
void xml_parts_add(struct xml_parts *p, enum xml_element element, const char **attributes,
                   uint32_t line, char error[XML_PART_ERROR]);

// The algorithm, with its parts in the order of their ids; NULL with one sentence. free() it.
struct xml_algorithm *xml_parts_sorted(const struct xml_parts *p, struct xml_error *error);

void xml_parts_free(struct xml_parts *p);
