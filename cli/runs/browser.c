// SPDX-License-Identifier: MIT
// Finds and runs a headless Chromium.
#include "cli/runs/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/ends.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

const char browser_names[] = "chromium, chromium-browser, google-chrome, google-chrome-stable, "
                             "microsoft-edge";

enum { TIMEOUT_S = 120, POLL_MS = 10 };

static char *in_path(const char *name)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *file = text_format("%.*s/%s", (int)length, path, name);
        if (length > 0 && access(file, X_OK) == 0)
            return file;
        free(file);
        path += length + (path[length] == ':');
    }
    return NULL;
}

char *browser_find(void)
{
    const char *given = getenv("COLLWIRE_BROWSER"), *at = browser_names;
    if (given && *given)
        return memory_text(given);
    while (*at) {
        size_t length = strcspn(at, ",");
        char *name = text_format("%.*s", (int)length, at), *found = in_path(name);
        free(name);
        if (found)
            return found;
        at += length + strspn(at + length, ", ");
    }
    return NULL;
}

/* ---- running ---- */

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    (void)number;
    interrupted = 1;
}

// In the child: the browser with its output in a file.
static _Noreturn void become(char *const *words, const char *out)
{
    int text = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600), nothing = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    if (text >= 0 && nothing >= 0 && dup2(nothing, 0) == 0 && dup2(text, 1) == 1 &&
        dup2(nothing, 2) == 2)
        execv(words[0], words);
    _exit(EXIT_NOT_COMPLETED);
}

// Wait until the child ends; it is killed with all of its processes after TIMEOUT_S, or if this
// program is interrupted. Returns true if it ended well.
static bool wait_for(pid_t child)
{
    const struct timespec poll = {0, POLL_MS * 1000000L};
    for (int waited = 0; waited < TIMEOUT_S * 1000 && !interrupted; waited += POLL_MS) {
        int status;
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        nanosleep(&poll, NULL);
    }
    kill(-child, SIGKILL);
    waitpid(child, NULL, 0);
    return false;
}

static int browser_run(const char *browser, const char *dir, const char *action, const char *page,
                       const char *stdout_name)
{
    char *profile = text_format("--user-data-dir=%s/profile", dir),
         *url = text_format("file://%s/%s", dir, page),
         *out = text_format("%s/%s", dir, stdout_name);
    // The page is our own and its policy forbids requests, so it needs no sandbox, which a browser
    // does not have as root and in most containers.
    char *words[] = {(char *)(uintptr_t)browser,
                     "--headless",
                     "--no-sandbox",
                     "--disable-gpu",
                     "--disable-dev-shm-usage",
                     "--disable-extensions",
                     "--disable-background-networking",
                     "--no-first-run",
                     "--no-pdf-header-footer",
                     "--host-resolver-rules=MAP * ~NOTFOUND",
                     profile,
                     (char *)(uintptr_t)action,
                     url,
                     NULL};
    signals_handle(note_signal);
    pid_t child = fork();
    if (child == 0)
        become(words, out);
    bool good = child > 0 && wait_for(child);
    signals_install();
    if (!good && interrupted)
        ends_note();
    else if (!good)
        fprintf(stderr, "collwire: plot: %s failed%s%s\n", browser, child < 0 ? ": " : "",
                child < 0 ? strerror(errno) : "");
    free(profile);
    free(url);
    free(out);
    return good ? 0 : -1;
}

int browser_dump(const char *browser, const char *dir, const char *page, const char *out)
{
    return browser_run(browser, dir, "--dump-dom", page, out);
}

int browser_print(const char *browser, const char *dir, const char *page, const char *out)
{
    char *action = text_format("--print-to-pdf=%s/%s", dir, out);
    int status = browser_run(browser, dir, action, page, "stdout");
    free(action);
    return status;
}
