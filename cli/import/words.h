// SPDX-License-Identifier: MIT
// The names that NCCL, RCCL and PyTorch give operations and types.
#pragma once

#include "cli/import/recording.h"

// Reads "allreduce", "_allgather_base", "AllReduce", "send" into the call's kind and operation.
// Returns false for other words.
bool call_word_read(const char *word, struct call *call);

// Bytes of an element of a type of PyTorch ("Float", "BFloat16"); 0 = unknown.
uint64_t torch_type_bytes(const char *type);

// Bytes of an element of a type as C++ names it ("float", "c10::Half", "long int"); 0 = unknown.
uint64_t cpp_type_bytes(const char *type);

// The operation in the name of a kernel of NCCL; COLL_OPS = none, or messages.
enum coll_op nccl_kernel_op(const char *name);

// True for the name of a kernel of NCCL, RCCL or MSCCL.
bool is_nccl_kernel(const char *name);
