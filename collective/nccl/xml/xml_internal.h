// SPDX-License-Identifier: MIT
// Shared by the files of this folder.
#pragma once

#include "collective/nccl/xml/algorithm.h"

// Whether all steps end; sets `together_least`. Returns false with one sentence.
bool xml_steps_end(struct xml_algorithm *a, struct xml_error *error);
