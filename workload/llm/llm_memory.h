// SPDX-License-Identifier: MIT
// The memory that the ranks of an llm job need (workload/gpu_memory/transformer.h).
#pragma once

#include "workload/gpu_memory/need.h"
#include "workload/llm/llm_source.h"

// Fill `need` for all ranks of a program; to be freed with memory_need_free().
void llm_memory(const struct llm_program *program, struct memory_need *need);

// What would shrink the kind that takes most, as the end of a sentence, with the bytes that a rank
// would need then; free() it. `free_bytes`: what a rank has.
char *llm_memory_lever(const struct llm_program *program, const struct memory_need *need,
                       uint64_t free_bytes);
