// SPDX-License-Identifier: MIT
// Variables of launchers. Open MPI: "Environmental variables", mpirun(1). MPICH and Intel MPI: PMI
// 1 (Balaji et al., "PMI: A Scalable Parallel Process-Management Interface", EuroMPI 2010). Slurm:
// "Output environment variables", srun(1), and with --mpi=pmix those of the PMIx standard.
#include "cli/processes/launcher.h"

#include <stdlib.h>
#include <string.h>

// The number in a variable, `otherwise` if it has none.
static uint32_t number_of(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return otherwise;
    unsigned long n = strtoul(text, &end, 10);
    return *end == '\0' && n < UINT32_MAX ? (uint32_t)n : otherwise;
}

struct launched launcher_look(void)
{
    static const struct launcher {
        const char *size, *rank;
    } known[] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
        {"PMI_SIZE", "PMI_RANK"},
        {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"}, // srun --mpi=pmix
        {"SLURM_STEP_NUM_TASKS", "PMI_RANK"},
        {"SLURM_NTASKS", "PMIX_RANK"},
        {"SLURM_NTASKS", "PMI_RANK"},
    };
    const char *choice = getenv("COLLWIRE_PROCESSES");
    if (choice && strcmp(choice, "1") == 0)
        return (struct launched){.n = 1};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (getenv(known[i].size) && getenv(known[i].rank))
            return (struct launched){number_of(known[i].size, 0), number_of(known[i].rank, 0)};
    if (getenv("PMIX_RANK"))
        return (struct launched){.n = 0, .rank = number_of("PMIX_RANK", 0)};
    return (struct launched){.n = 1};
}
