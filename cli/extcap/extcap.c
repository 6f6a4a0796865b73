// SPDX-License-Identifier: MIT
// collwire extcap: reads the calls of Wireshark.
#include "cli/extcap/extcap.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/extcap/extcap_internal.h"
#include "cli/options/option_take.h"
#include "cli/results/folder.h"
#include "cli/runs/runs.h"
#include "cli/terminal/signals.h"
#include "engine/base/text.h"

/* ---- capture ---- */

// Runs a scenario for Wireshark: as collwire run with --capture PLACE -w -, whose stdout is the
// pipe.
//
// The run is a child process. The parent ends it when Wireshark has closed the pipe, as it does at
// the end of a capture, and passes on signals. Results other than packets go to a temporary folder,
// which is removed.

/* ---- the command line of the run ---- */

// The filter of the dialogue and Wireshark's own one; NULL = none. To be freed.
static char *filter_of(const struct extcap_call *call)
{
    const char *a = call->filter && *call->filter ? call->filter : NULL;
    const char *b = call->capture_filter && *call->capture_filter ? call->capture_filter : NULL;
    if (a && b)
        return text_format("(%s) and (%s)", a, b);
    return a || b ? text_format("%s", a ? a : b) : NULL;
}

// The scenario's `capture`, or NULL after a message. To be freed.
static char *capture_of(const struct extcap_call *call, const char *place)
{
    char *filter = filter_of(call);
    json_t *capture = json_pack("[{s:s, s:s, s:s, s:s}]", "at", place, "file", "-", "format",
                                "pcapng", "filter", filter ? filter : "");
    char *text = capture ? json_dumps(capture, 0) : NULL;
    if (!text)
        fputs("collwire: extcap: the place or the filter is not UTF-8\n", stderr);
    json_decref(capture);
    free(filter);
    return text;
}

// Append the changes "PATH=VALUE;PATH=VALUE".
static int set_changes(struct options *run, const char *changes, char ***parts, size_t *n)
{
    *n = changes && *changes ? text_split(changes, ';', parts) : 0;
    for (size_t i = 0; i < *n; i++) {
        char *path = (*parts)[i] + strspn((*parts)[i], " "), *equals = strchr(path, '=');
        if (*path == '\0')
            continue;
        if (!equals || equals == path) {
            fprintf(stderr, "collwire: changes: \"%s\" is not PATH=VALUE\n", path);
            return -1;
        }
        *equals = '\0';
        options_set(run, path, equals + 1);
    }
    return 0;
}

// Run the scenario with stdout as the pipe. Returns the exit code.
static int run_scenario(const struct extcap_scenario *scenario, const struct extcap_call *call,
                        const struct options *o, const char *dir)
{
    const char *args[] = {scenario->path};
    struct options run = {.command = "run",
                          .args = args,
                          .n_args = 1,
                          .out = dir,
                          .policies = o->policies,
                          .seeds = 1,
                          .progress = PROGRESS_NEVER,
                          .quiet = true};
    bool placed = call->place && *call->place;
    char *place = placed ? text_format("%s", call->place) : extcap_default_place(scenario, o);
    char **parts = NULL, *capture = capture_of(call, place);
    size_t n_parts = 0;
    if (call->policy && *call->policy && strcmp(call->policy, EXTCAP_SCENARIO) != 0)
        run.cc = call->policy;
    bool paced = call->pace && *call->pace && strcmp(call->pace, EXTCAP_FASTEST) != 0;
    char *pace = text_format("%s", paced ? call->pace : "");
    int code = EXIT_BAD_USE;
    if (capture && (!paced || option_pace(&run, pace) == 0) &&
        set_changes(&run, call->changes, &parts, &n_parts) == 0) {
        options_set(&run, "capture", capture);
        code = run_command.run(&run);
    }
    free(run.sets);
    free(place);
    free(pace);
    free(capture);
    texts_free(parts, n_parts);
    return code;
}

/* ---- the two processes ---- */

static volatile sig_atomic_t stop_signal;

static void note_signal(int number) { stop_signal = number; }

// Wait for the child process; stop it when Wireshark has closed the pipe, and pass on signals.
// `alive` is readable when the child has ended.
static int watch(pid_t child, int pipe_fd, int alive)
{
    struct pollfd fds[] = {{.fd = pipe_fd}, {.fd = alive}};
    int status;
    bool told = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
        // a signal between the test and poll() is seen at the latest after the time-out
        poll(fds, 2, 200);
        if (!told && (stop_signal || fds[0].revents)) {
            kill(child, SIGTERM);
            told = true;
            fds[0].fd = -1;
        }
        if (fds[1].revents) { // it is about to end
            waitpid(child, &status, 0);
            break;
        }
    }
    bool closed = told && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERRUPTED;
    if (closed || (told && WIFSIGNALED(status)))
        return EXIT_DONE; // Wireshark has stopped the capture
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NOT_COMPLETED;
}

// Arguments of the child process.
struct child {
    const struct extcap_scenario *scenario;
    const struct extcap_call *call;
    const struct options *options;
    const char *dir;
    int pipe_fd;
    FILE *messages; // instead of stderr
};

static _Noreturn void child_main(const struct child *c)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signals_install();
    dup2(c->pipe_fd, STDOUT_FILENO);
    dup2(fileno(c->messages), STDERR_FILENO);
    close(c->pipe_fd);
    int code = run_scenario(c->scenario, c->call, c->options, c->dir);
    fflush(stdout);
    _exit(code);
}

// Print the messages of a child that has not ended as it should.
static void pass_messages(FILE *messages)
{
    char part[4096];
    size_t n;
    rewind(messages);
    while ((n = fread(part, 1, sizeof part, messages)) > 0)
        fwrite(part, 1, n, stderr);
}

static int capture_into(const struct child *c)
{
    int ends[2], code = EXIT_NOT_COMPLETED;
    if (!c->messages || pipe(ends) != 0) {
        fprintf(stderr, "collwire: extcap: %s\n", strerror(errno));
        return code;
    }
    signals_handle(note_signal);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        child_main(c);
    }
    close(ends[1]);
    if (child > 0)
        code = watch(child, c->pipe_fd, ends[0]);
    else
        fprintf(stderr, "collwire: extcap: %s\n", strerror(errno));
    close(ends[0]);
    if (child > 0 && code != EXIT_DONE)
        pass_messages(c->messages);
    return code;
}

// Remove the temporary folder.
static void remove_folder(const char *dir)
{
    char *parent = text_format("%s", dir), *slash = strrchr(parent, '/');
    *slash = '\0';
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        folder_wipe(fd, slash + 1);
        close(fd);
    }
    free(parent);
}

// Run a scenario and write its packets to the pipe. Returns the exit code.
static int extcap_capture(const struct extcap_scenario *scenario, const struct extcap_call *call,
                          const struct options *o)
{
    const char *temporary = getenv("TMPDIR");
    if (!call->fifo) {
        fputs("collwire: extcap: --capture needs --fifo\n", stderr);
        return EXIT_BAD_USE;
    }
    int fd = open(call->fifo, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "collwire: %s: %s\n", call->fifo, strerror(errno));
        return EXIT_BAD_USE;
    }
    char *dir = text_format("%s/collwire-extcap-XXXXXX",
                            temporary && *temporary == '/' ? temporary : "/tmp");
    int code = EXIT_NOT_COMPLETED;
    if (mkdtemp(dir)) {
        struct child child = {scenario, call, o, dir, fd, tmpfile()};
        code = capture_into(&child);
        if (child.messages)
            fclose(child.messages);
        remove_folder(dir);
    } else {
        fprintf(stderr, "collwire: %s: %s\n", dir, strerror(errno));
    }
    close(fd);
    free(dir);
    return code;
}

/* ---- extcap ---- */

struct call_option {
    const char *name;
    size_t text; // offset of a text, or
    size_t flag; // offset of a flag
};

#define NO_FIELD SIZE_MAX
#define TEXT(field) offsetof(struct extcap_call, field), NO_FIELD
#define FLAG(field) NO_FIELD, offsetof(struct extcap_call, field)

static const struct call_option call_options[] = {
    {"--extcap-interfaces", FLAG(interfaces)},
    {"--extcap-dlts", FLAG(dlts)},
    {"--extcap-config", FLAG(config)},
    {"--capture", FLAG(capture)},
    {"--extcap-interface", TEXT(interface)},
    {"--extcap-capture-filter", TEXT(capture_filter)},
    {"--fifo", TEXT(fifo)},
    {"--scenarios", TEXT(scenarios)},
    {"--scenario", TEXT(scenario)},
    {"--place", TEXT(place)},
    {"--policy", TEXT(policy)},
    {"--pace", TEXT(pace)},
    {"--changes", TEXT(changes)},
    {"--filter", TEXT(filter)},
};

static const struct call_option *option_named(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof call_options / sizeof *call_options; i++)
        if (strlen(call_options[i].name) == length &&
            strncmp(call_options[i].name, word, length) == 0)
            return &call_options[i];
    return NULL;
}

// Options are --NAME, --NAME=VALUE or --NAME VALUE.
static int call_parse(struct extcap_call *call, const char **words, size_t n)
{
    static const char prefix[] = "--extcap-";
    for (size_t i = 0; i < n; i++) {
        const char *word = words[i], *equals = strchr(word, '=');
        const struct call_option *option =
            option_named(word, equals ? (size_t)(equals - word) : strlen(word));
        if (option && option->flag != NO_FIELD) {
            *(bool *)((char *)call + option->flag) = true;
        } else if (option && (equals || i + 1 < n)) {
            const char *value = equals ? equals + 1 : words[++i];
            *(const char **)(void *)((char *)call + option->text) = value;
        } else if (option) {
            fprintf(stderr, "collwire: extcap: %s needs an argument\n", word);
            return -1;
        } else if (strncmp(word, prefix, sizeof prefix - 1) != 0) {
            fprintf(stderr, "collwire: extcap: unknown option \"%s\"\n", word);
            return -1;
        }
    }
    return 0;
}

// The scenario that is called so, NULL = the first one; NULL after a message.
static const struct extcap_scenario *scenario_of_call(const struct extcap_call *call,
                                                      const struct extcap_scenarios *found)
{
    bool named = call->scenario && *call->scenario != '\0';
    for (size_t i = 0; i < found->n; i++)
        if (!named || strcmp(found->list[i].name, call->scenario) == 0)
            return &found->list[i];
    if (named)
        fprintf(stderr, "collwire: extcap: %s is not a scenario of %s\n", call->scenario,
                call->scenarios);
    else
        fprintf(stderr, "collwire: extcap: there are no scenarios in %s\n", call->scenarios);
    return NULL;
}

static int answer_config(const struct extcap_call *call, const struct options *o)
{
    struct extcap_scenarios found = {0};
    extcap_find(&found, call->scenarios);
    extcap_config(&found, o);
    extcap_scenarios_free(&found);
    return EXIT_DONE;
}

static int answer_capture(const struct extcap_call *call, const struct options *o)
{
    struct extcap_scenarios found = {0};
    extcap_find(&found, call->scenarios);
    const struct extcap_scenario *scenario = scenario_of_call(call, &found);
    int code = scenario ? extcap_capture(scenario, call, o) : EXIT_BAD_USE;
    extcap_scenarios_free(&found);
    return code;
}

static int answer(const struct extcap_call *call, const struct options *o)
{
    if (call->interfaces) {
        extcap_interfaces();
        return EXIT_DONE;
    }
    if (!call->interface || strcmp(call->interface, EXTCAP_INTERFACE) != 0) {
        fprintf(stderr,
                "collwire: extcap: --extcap-interface %s: the interface is " EXTCAP_INTERFACE "\n",
                call->interface ? call->interface : "is missing");
        return EXIT_BAD_USE;
    }
    if (call->capture)
        return answer_capture(call, o);
    if (call->config)
        return answer_config(call, o);
    if (call->dlts)
        extcap_dlts();
    else if (call->capture_filter)
        return extcap_check_filter(call);
    return EXIT_DONE;
}

static int wireshark_calls(const struct options *o)
{
    struct extcap_call call = {.scenarios = "scenarios"};
    return call_parse(&call, o->args, o->n_args) == 0 ? answer(&call, o) : EXIT_BAD_USE;
}

static int command_extcap(const struct options *o)
{
    const char *what = o->n_args > 0 ? o->args[0] : "";
    if (o->raw)
        return wireshark_calls(o);
    if (o->n_args == 1 && strcmp(what, "install") == 0)
        return extcap_install(o);
    if (o->n_args == 1 && strcmp(what, "uninstall") == 0)
        return extcap_uninstall();
    fputs("collwire: extcap takes install or uninstall; see collwire extcap --help\n", stderr);
    return EXIT_BAD_USE;
}

/* ---- its row ---- */

static const char extcap_text[] =
    "Wireshark gets an interface: a capture on it runs a scenario and shows its packets "
    "as they are simulated. install writes a small program into Wireshark's personal extcap "
    "folders, the plugin for captures of collwire into that of plugins, and a profile. "
    "uninstall removes them. Files of others are never replaced.\n\n"
    "The options of the interface are the scenario, the place, the policy, the pace, changes of "
    "the scenario and a filter.\n\n"
    "  collwire extcap install --scenarios scenarios\n"
    "  tshark -D\n"
    "  tshark -i collwire -o extcap.collwire.scenario:incast\n"
    "  collwire extcap uninstall";

const struct command extcap_command = {
    .name = "extcap",
    .help = "scenarios as an interface of Wireshark",
    .args = "install|uninstall",
    .text = extcap_text,
    .run = command_extcap,
    .completes = COMPLETE_NOTHING,
};
