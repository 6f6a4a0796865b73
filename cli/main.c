// SPDX-License-Identifier: MIT
// collwire: calls the command.
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/processes/process_group.h"
#include "cli/runs/runs.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/invocation.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/plugin_watch.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/loop.h"

static int dispatch(const struct options *o)
{
    if (o->version) {
        printf("collwire %s\n", collwire_version());
        return EXIT_DONE;
    }
    if (!o->command) {
        help_overview(o->known, o->help ? stdout : stderr);
        return o->help ? EXIT_DONE : EXIT_BAD_USE;
    }
    const struct command *command = command_named(o->known, o->command);
    if (!command)
        return EXIT_BAD_USE;
    if (o->help) {
        help_page(stdout, command);
        return EXIT_DONE;
    }
    if (processes_shared() && command->run != run_command.run) {
        fprintf(stderr, "collwire: %s: several processes of a launcher can only run a scenario\n",
                o->command);
        return EXIT_BAD_USE;
    }
    return command->run(o);
}

// Whether a descriptor is a pipe that nobody reads any more, as in `collwire list | head`: what the
// reader wanted has been written, and that is no error.
static bool reader_gone(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

static int run(int argc, char **argv)
{
    struct options options;
    int status = EXIT_BAD_USE;
    if (options_parse(&options, &all_commands, argc, argv) == 0 &&
        options_load_plugins(&options) == 0) {
        if (options.end_with_stdin)
            signals_end_with_stdin();
        status = dispatch(&options);
    }
    options_free(&options);
    if ((fflush(stdout) != 0 || ferror(stdout)) && !reader_gone(STDOUT_FILENO)) {
        fprintf(stderr, "collwire: stdout could not be written\n");
        status = status == EXIT_DONE ? EXIT_NOT_COMPLETED : status;
    }
    return status;
}

#define STACK_LEAST ((rlim_t)256 << 10) // twice what runs and plans were seen to need

static bool stack_suffices(void)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK_LEAST)
        return true;
    fprintf(stderr,
            "collwire: a stack of %llu KB is too small; set it by `ulimit -s %llu` or more\n",
            (unsigned long long)stack.rlim_cur >> 10, (unsigned long long)STACK_LEAST >> 10);
    return false;
}

static void event_loop_failed(const char *what)
{
    (void)what;
    signals_abandon(EXIT_NOT_COMPLETED, strerror(errno));
}

int main(int argc, char **argv)
{
    if (!stack_suffices())
        return EXIT_BAD_USE;
    memory_guard_init(); // before the first allocation
    signals_install();
    loop_on_failure(event_loop_failed);
    invocation_keep(argc, argv);
    json_set_alloc_funcs(memory_bytes, free);
    loop_use_memory();
    int status = processes_join();
    if (status == EXIT_DONE)
        status = processes_leave(ends_code(run(argc, argv)));
    plugin_watch_end();
    return status;
}
