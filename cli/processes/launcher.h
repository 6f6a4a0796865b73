// SPDX-License-Identifier: MIT
// What the environment says about a launcher that started several processes.
#pragma once

#include <stdint.h>

struct launched {
    uint32_t n;    // processes; 1 = this one alone, 0 = a launcher that does not say how many
    uint32_t rank; // number of this one
};

// Looks at the variables of mpirun, mpiexec and srun. A job of Slurm alone is no launcher: its
// scripts have SLURM_NTASKS too. COLLWIRE_PROCESSES=1 says that each process is a run of its own.
struct launched launcher_look(void);
