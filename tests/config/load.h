// SPDX-License-Identifier: MIT
// Loads scenarios from texts, in a folder of the test; include it after cmocka.h.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/scenario.h"
#include "tests/config/pieces.h"

#define GOOD "{\"name\":\"t\",\"topology\":{\"dims\":[" DIM "]},\"workload\":" JOB "}"

static char folder[] = "/tmp/test-scenario-XXXXXX";

static int folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int folder_remove(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void in_folder(char *path, size_t room, const char *name)
{
    snprintf(path, room, "%s/%s", folder, name);
}

static void file_write(const char *name, const void *bytes, size_t n)
{
    char path[256];
    in_folder(path, sizeof path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void file_remove(const char *name)
{
    char path[256];
    in_folder(path, sizeof path, name);
    assert_int_equal(unlink(path), 0);
}

static struct scenario *load_with(const char *text, size_t n, const struct collwire_setting *sets,
                                  size_t n_sets, const struct policies *policies, struct err *err)
{
    char path[256];
    in_folder(path, sizeof path, "s.json");
    file_write("s.json", text, n);
    struct scenario *scenario = scenario_load(path, sets, n_sets, policies, err);
    file_remove("s.json");
    return scenario;
}

static inline struct scenario *load_text(const char *text, size_t n,
                                         const struct collwire_setting *sets, size_t n_sets,
                                         struct err *err)
{
    struct policies policies = policies_builtin(NULL);
    return load_with(text, n, sets, n_sets, &policies, err);
}

static inline struct scenario *load(const char *text, struct err *err)
{
    return load_text(text, strlen(text), NULL, 0, err);
}

static inline void assert_said(const struct err *err, const char *what, const char *want)
{
    for (size_t i = 0; i < err->n_items; i++)
        if (strstr(err->items[i].text, want) != NULL)
            return;
    print_message("%s\n", what);
    for (size_t i = 0; i < err->n_items; i++)
        print_message("  said: %s\n", err->items[i].text);
    fail_msg("not said: %s", want);
}
