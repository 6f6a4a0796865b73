// SPDX-License-Identifier: MIT
// The store: what is added is read back, what has finished, and the identity of points.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/text.h"
#include "report/study/store.h"

static char folder[] = "/tmp/test-store-XXXXXX";

static int make(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_all(void **state)
{
    (void)state;
    static const char *const names[] = {STORE_FILE, STORE_FILE "-wal", STORE_FILE "-shm",
                                        "file.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = text_format("%s/%s", folder, names[i]);
        unlink(path);
        free(path);
    }
    return rmdir(folder);
}

static struct store *opened(enum store_mode mode)
{
    struct err err = {0};
    struct store *s = store_open(folder, mode, "1.2", &err);
    for (size_t i = 0; i < err.n_items; i++)
        print_message("%s\n", err.items[i].text);
    assert_non_null(s);
    return s;
}

static void add(struct store *s, const char *hash, uint64_t position, const char *status,
                double value)
{
    struct err err = {0};
    size_t size;
    void *packed = metrics_pack("{\"metrics\": 1}", &size);
    struct store_point p = {.position = position,
                            .values = "{\"a.b\":\"1\"}",
                            .status = status,
                            .failure = strcmp(status, "failed") == 0 ? "why" : NULL,
                            .wall_s = 0.5,
                            .packet_hops = 7,
                            .metrics = packed,
                            .metrics_size = size,
                            .metrics_bytes = 14};
    snprintf(p.hash, sizeof p.hash, "%s", hash);
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        p.columns[c] = c == 1 ? (double)NAN : value + (double)c;
    assert_int_equal(store_add(s, &p, &err), 0);
    free(packed);
}

struct seen {
    size_t n;
    char hashes[8][POINT_HASH];
};

static void see(void *ctx, const struct store_point *p)
{
    struct seen *seen = ctx;
    memcpy(seen->hashes[seen->n++], p->hash, POINT_HASH);
    assert_string_equal(p->values, "{\"a.b\":\"1\"}");
    assert_true(p->wall_s == 0.5 && p->packet_hops == 7);
    assert_true(isnan(p->columns[1]));
    assert_true(p->columns[2] - p->columns[0] == 2);
    assert_int_equal(p->failure != NULL, strcmp(p->status, "failed") == 0);
    char *text = metrics_unpack(p->metrics, p->metrics_size, p->metrics_bytes);
    assert_string_equal(text, "{\"metrics\": 1}");
    free(text);
}

static void test_points(void **state)
{
    (void)state;
    static const char *const paths[] = {"a.b", "seed"}, *const more[] = {"seed", "c"};
    struct err err = {0};
    struct store *s = opened(STORE_CREATE);
    assert_int_equal(store_describe(s, "name", "{}", paths, 2, &err), 0);
    add(s, "ff", 2, "completed", 0.1); // a value that a decimal text would round
    add(s, "ee", 0, "failed", 1);
    add(s, "dd", 1, "incomplete", 2);
    assert_true(store_finished(s, "ff") && store_finished(s, "dd"));
    assert_false(store_finished(s, "ee") || store_finished(s, "aa"));
    add(s, "ee", 0, "completed", 3);
    assert_true(store_finished(s, "ee"));
    store_close(s);
    s = opened(STORE_READ);
    assert_string_equal(store_name(s), "name");
    assert_int_equal(store_paths(s), 2);
    struct seen seen = {0};
    assert_int_equal(store_each(s, see, &seen, &err), 0);
    assert_int_equal(seen.n, 3);
    assert_string_equal(seen.hashes[0], "ee");
    assert_string_equal(seen.hashes[1], "dd");
    assert_string_equal(seen.hashes[2], "ff");
    char *text = store_metrics(s, "dd");
    assert_string_equal(text, "{\"metrics\": 1}");
    free(text);
    assert_null(store_metrics(s, "aa"));
    store_close(s);
    s = opened(STORE_CREATE);
    assert_int_equal(store_describe(s, "name", "{}", more, 2, &err), 0);
    assert_int_equal(store_paths(s), 3);
    assert_string_equal(store_path(s, 2), "c");
    store_close(s);
    assert_null(store_open(folder, STORE_CREATE, "1.3", &err));
    assert_null(store_open("/nowhere", STORE_READ, "1.2", &err));
    assert_int_equal(err.n_errors, 2);
    err_free(&err);
}

static void file_write(const char *name, const char *text)
{
    char *path = text_format("%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    fputs(text, out);
    fclose(out);
    free(path);
}

// The hash depends on the version, the scenario and the files that it names, and on nothing else.
// A link in the place of the store or of a file beside it is refused, and what it leads to stays as
// it is.
static void test_links(void **state)
{
    (void)state;
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char *victim = text_format("%s/file.csv", folder);
    for (size_t i = 0; i < 2 * sizeof suffixes / sizeof *suffixes; i++) {
        struct err err = {0};
        char text[8] = "", *path = text_format("%s/" STORE_FILE "%s", folder, suffixes[i / 2]);
        unlink(path);
        file_write("file.csv", "victim");
        assert_int_equal(i % 2 ? link(victim, path) : symlink(victim, path), 0);
        assert_null(store_open(folder, STORE_CREATE, "1.2", &err));
        assert_int_equal(err.n_errors, 1);
        err_free(&err);
        FILE *in = fopen(victim, "r");
        assert_non_null(fgets(text, sizeof text, in));
        assert_string_equal(text, "victim");
        fclose(in);
        unlink(path);
        unlink(victim);
        free(path);
    }
    free(victim);
    store_close(opened(STORE_CREATE));
}

static void test_hash(void **state)
{
    (void)state;
    static const char scenario[] = "{\"workload\": [{\"file\": \"file.csv\"}], \"name\": \"x\"}";
    char first[POINT_HASH], other[POINT_HASH];
    file_write("file.csv", "one");
    point_hash(scenario, folder, "1", first);
    assert_int_equal(strlen(first), 64);
    point_hash(scenario, folder, "1", other);
    assert_string_equal(first, other);
    point_hash(scenario, folder, "2", other);
    assert_string_not_equal(first, other);
    point_hash("{\"workload\": [{\"file\": \"file.csv\"}], \"name\": \"y\"}", folder, "1", other);
    assert_string_not_equal(first, other);
    file_write("file.csv", "two");
    point_hash(scenario, folder, "1", other);
    assert_string_not_equal(first, other);
    file_write("file.csv", "one");
    point_hash(scenario, folder, "1", other);
    assert_string_equal(first, other);
    point_hash(scenario, "/", "1", other);
    assert_string_not_equal(first, other);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, make, remove_all);
}
