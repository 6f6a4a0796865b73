// SPDX-License-Identifier: MIT
// Shared by the files of this folder.
#pragma once

#include "collective/nccl/xml/algorithm.h"
