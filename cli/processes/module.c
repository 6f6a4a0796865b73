// SPDX-License-Identifier: MIT
// Finds and loads the module.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/processes/processes_internal.h"
#include "cli/results/share_folder.h"
#include "engine/base/text.h"

#define MODULE_FILE "collwire/processes_mpi.so"

// COLLWIRE_LIBDIR is the folder of libraries, relative to an installation's.
static char *module_find(void)
{
    static const char *const below[] = {"", "../"};
    char *program = program_path(), *found = NULL;
    char *slash = program ? strrchr(program, '/') : NULL;
    for (size_t i = 0; slash && !found && i < sizeof below / sizeof *below; i++) {
        found = text_format("%.*s/%s" COLLWIRE_LIBDIR "/" MODULE_FILE, (int)(slash - program),
                            program, below[i]);
        if (access(found, R_OK) != 0) {
            free(found);
            found = NULL;
        }
    }
    free(program);
    return found;
}

const struct processes_module *module_load(char *why, size_t room)
{
    char *file = module_find();
    if (!file) {
        snprintf(why, room, "this build has no MPI (docs/scaling.md)");
        return NULL;
    }
    // MPI loads parts of itself, which look for its symbols among the global ones.
    void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    const struct processes_module *module = library ? dlsym(library, PROCESSES_MODULE) : NULL;
    if (!module)
        snprintf(why, room, "%s", dlerror());
    else if (module->bytes != sizeof *module || strcmp(module->version, collwire_version()) != 0) {
        snprintf(why, room, "%s is of another version of collwire", file);
        module = NULL;
    }
    free(file);
    return module;
}
