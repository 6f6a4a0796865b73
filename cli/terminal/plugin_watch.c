// SPDX-License-Identifier: MIT
// The handlers call only functions that POSIX lists as safe in handlers.
#include "cli/terminal/plugin_watch.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/terminal/exit_codes.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"

#define HANGS_S 3   // time of CPU in one call, which takes nanoseconds otherwise
#define SLEEPS_S 30 // the same in wall time: the machine may be busy with other programs

static struct collwire_activity activity;
static char files[512]; // names of the plugins, with commas between them; cut off if it is full
static bool watches, ends;

/* ---- the message ---- */

static char sentence[1024];

static void say(const char *text)
{
    size_t used = strlen(sentence), length = strlen(text), room = sizeof sentence - 1 - used;
    memcpy(sentence + used, text, length < room ? length : room);
    sentence[used + (length < room ? length : room)] = '\0';
}

// "plugin x.so: policy p ... in on_ack()".
static _Noreturn void abandon(const char *what)
{
    sentence[0] = '\0';
    if (!activity.file) {
        say("the program ");
        say(what);
        say(" outside of a hook, with loaded plugins (");
        say(files);
        say(")");
        signals_abandon(EXIT_NOT_COMPLETED, sentence);
    }
    say("plugin ");
    say(activity.file);
    say(": ");
    if (activity.policy) {
        say("policy ");
        say(activity.policy);
        say(" ");
    }
    say(what);
    if (activity.policy) {
        say(" in ");
        say(activity.hook);
        say("()");
    } else {
        say(" when it was loaded");
    }
    signals_abandon(EXIT_NOT_COMPLETED, sentence);
}

/* ---- crashes, hangs, exits ---- */

static const struct {
    int number;
    const char *what;
} crashes[] = {
    {SIGSEGV, "crashed (segmentation fault)"},
    {SIGBUS, "crashed (bus error)"},
    {SIGFPE, "crashed (arithmetic error)"},
    {SIGILL, "crashed (illegal instruction)"},
    {SIGABRT, "crashed (aborted)"},
};
#define N_CRASHES (sizeof crashes / sizeof *crashes)

static void on_crash(int number)
{
    for (size_t i = 0; i < N_CRASHES; i++)
        if (crashes[i].number == number)
            abandon(crashes[i].what);
    signals_leave(EXIT_NOT_COMPLETED);
}

// Called every second of CPU time.
static void on_second(int number)
{
    static uint64_t calls;
    static int seconds;
    (void)number;
    if (!activity.file || calls != activity.calls) {
        calls = activity.calls;
        seconds = 0;
    } else if (++seconds >= HANGS_S) {
        abandon("has not returned for 3 s of CPU time");
    }
}

void plugin_watch_second(void)
{
    static uint64_t calls;
    static int seconds;
    if (!activity.file || calls != activity.calls) {
        calls = activity.calls;
        seconds = 0;
    } else if (++seconds >= SLEEPS_S) {
        abandon("has not returned for 30 s");
    }
}

// A plugin that calls exit() must not look like a run that has ended.
static void on_exit_call(void)
{
    if (!ends)
        abandon("called exit()");
}

// Replaces _exit() of the C library for this program and its plugins. Called from a plugin, it
// prints an error that names the plugin; the C library's would end the run without results or a
// message.
// Called from anywhere else, it ends the program as the C library's does.
#define EXPORTED __attribute__((visibility("default")))
EXPORTED _Noreturn void _exit(int code)
{
    if (watches && !ends && activity.file)
        abandon("called _exit()");
    signals_leave(code);
}

EXPORTED _Noreturn void _Exit(int code) { _exit(code); }

void plugin_watch_end(void) { ends = true; }

void plugin_watch_begin(void)
{
    static const struct itimerval every = {{1, 0}, {1, 0}};
    if (watches)
        setitimer(ITIMER_VIRTUAL, &every, NULL);
}

static void watch(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    struct sigaction second = {.sa_handler = on_second, .sa_flags = SA_RESTART | SA_ONSTACK};
    // a stack of its own, since a recursion without end has used up the other one
    stack_t stack = {.ss_size = 65536, .ss_sp = memory_bytes(65536)};
    sigemptyset(&action.sa_mask);
    sigemptyset(&second.sa_mask);
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < N_CRASHES; i++)
        sigaction(crashes[i].number, &action, NULL);
    sigaction(SIGVTALRM, &second, NULL);
    atexit(on_exit_call);
    watches = true;
    plugin_watch_begin();
}

/* ---- loading ---- */

static const void *load_symbol(void *ctx, const char *path, const char *name, char *why,
                               size_t room)
{
    (void)ctx;
    if (!watches)
        watch();
    size_t used = strlen(files);
    snprintf(files + used, sizeof files - used, "%s%s", used > 0 ? ", " : "", path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;
    if (library && (symbol = dlsym(library, name)) == NULL)
        snprintf(why, room,
                 "it has no symbol %s (the last line of a plugin is COLLWIRE_PLUGIN(...))", name);
    else if (!library)
        snprintf(why, room, "%s", dlerror());
    return symbol;
}

static const struct collwire_loader loader = {.symbol = load_symbol, .activity = &activity};

const struct collwire_loader *plugin_loader(void) { return &loader; }
