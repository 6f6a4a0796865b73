// SPDX-License-Identifier: MIT
// The pool of workers: what it reports, how many it runs, and what it does when something is
// killed.
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/study/worker_pool.h"

enum { TASKS = 12, LARGE = 300000 };

struct seen {
    size_t n, order[TASKS], most_running;
    int code[TASKS], signal[TASKS];
    size_t n_bytes[TASKS];
    char first[TASKS];
    int interrupt_after; // ends; 0 = never
    int shown;
    double left_s;
};

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

static void on_ended(void *ctx, const struct pool_end *end)
{
    struct seen *seen = ctx;
    seen->order[seen->n++] = end->task;
    seen->code[end->task] = end->code;
    seen->signal[end->task] = end->signal;
    seen->n_bytes[end->task] = end->n_bytes;
    seen->first[end->task] = end->bytes[0];
    if (seen->interrupt_after > 0 && (int)seen->n == seen->interrupt_after)
        raise(SIGINT);
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    struct seen *seen = ctx;
    seen->shown++;
    if (p->running > seen->most_running)
        seen->most_running = p->running;
    assert_true(p->done + p->running <= p->total);
    seen->left_s = p->left_s;
}

// Task 2 writes much, task 3 crashes, task 4 is killed, task 5 has an exit code.
static void work(void *ctx, size_t task, int to_parent)
{
    static char large[LARGE];
    (void)ctx;
    memset(large, 'a' + (int)task, sizeof large);
    size_t n = task == 2 ? LARGE : 5;
    for (size_t done = 0; done < n;) {
        ssize_t put = write(to_parent, large + done, n - done);
        done += put > 0 ? (size_t)put : 0;
    }
    if (task == 3) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (task == 4)
        raise(SIGKILL);
    _exit(task == 5 ? 7 : 0);
}

static void test_ends(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct pool_ops ops = {.ctx = &seen, .work = work, .ended = on_ended, .death_signal = SIGKILL};
    assert_int_equal(pool_run(&ops, TASKS, 3), 0);
    assert_int_equal(seen.n, TASKS);
    for (size_t t = 0; t < TASKS; t++) {
        assert_int_equal(seen.code[t], t == 5 ? 7 : t == 3 || t == 4 ? -1 : 0);
        assert_int_equal(seen.signal[t], t == 3 ? SIGSEGV : t == 4 ? SIGKILL : 0);
        assert_int_equal(seen.n_bytes[t], t == 2 ? LARGE : 5);
        assert_int_equal(seen.first[t], 'a' + (int)t);
    }
    struct pool_end killed = {.started = true, .code = -1, .signal = SIGKILL};
    char *text = pool_failure(&killed);
    assert_string_equal(text, "killed by signal 9 (Killed)");
    free(text);
    struct pool_end none = {.code = -1, .reason = EAGAIN};
    text = pool_failure(&none);
    assert_string_equal(text, "could not be started: Resource temporarily unavailable");
    free(text);
    assert_null(pool_failure(&(struct pool_end){.started = true, .code = 1}));
}

static void work_slowly(void *ctx, size_t task, int to_parent)
{
    (void)ctx, (void)task, (void)to_parent;
    sleep_ms(60);
    _exit(0);
}

static void test_one_at_a_time_is_in_order(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct pool_ops ops = {.ctx = &seen, .work = work_slowly, .ended = on_ended};
    assert_int_equal(pool_run(&ops, 4, 1), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(seen.order[i], i);
    assert_int_equal(pool_run(&ops, 0, 1), 0);
}

static void test_progress(void **state)
{
    (void)state;
    static const double expected_s[TASKS] = {[0] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct seen seen = {0};
    struct pool_ops ops = {.ctx = &seen,
                           .work = work_slowly,
                           .ended = on_ended,
                           .progress = on_progress,
                           .progress_s = 0.02,
                           .expected_s = expected_s};
    assert_int_equal(pool_run(&ops, TASKS, 3), 0);
    assert_true(seen.shown >= 4);
    assert_int_equal(seen.most_running, 3);
    // the last estimate knows that a task takes 60 ms, not the second that was expected
    assert_true(seen.left_s >= 0 && seen.left_s < 0.5);
}

// Ends in order when it gets the signal that the pool passes on.
static void on_term(int number)
{
    (void)number;
    _exit(130);
}

static void work_until_told(void *ctx, size_t task, int to_parent)
{
    (void)ctx, (void)to_parent;
    if (task == 0)
        _exit(0);
    signal(SIGTERM, on_term);
    sleep_ms(20000);
    _exit(1);
}

static void test_interruption(void **state)
{
    (void)state;
    struct seen seen = {.interrupt_after = 1};
    struct pool_ops ops = {.ctx = &seen, .work = work_until_told, .ended = on_ended};
    signal(SIGINT, SIG_DFL);
    assert_int_equal(pool_run(&ops, TASKS, 3), SIGINT);
    // Tasks 1 and 2 ran; the place of task 0 may have been filled by task 3 before the signal.
    assert_in_range(seen.n, 3, 4);
    for (size_t i = 1; i < seen.n; i++)
        assert_int_equal(seen.code[seen.order[i]] == 130 || seen.signal[seen.order[i]] == SIGTERM,
                         1);
    struct sigaction now;
    sigaction(SIGINT, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
}

static void work_and_tell(void *ctx, size_t task, int to_parent)
{
    const int *to_test = ctx;
    pid_t pid = getpid();
    (void)task, (void)to_parent;
    if (write(*to_test, &pid, sizeof pid) != sizeof pid)
        _exit(1);
    sleep_ms(20000);
    _exit(1);
}

static void ignore_end(void *ctx, const struct pool_end *end) { (void)ctx, (void)end; }

static void test_workers_die_with_their_parent(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct pool_ops ops = {
            .ctx = &ends[1], .work = work_and_tell, .ended = ignore_end, .death_signal = SIGKILL};
        pool_run(&ops, 2, 2);
        _exit(0);
    }
    pid_t workers[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(read(ends[0], &workers[i], sizeof workers[i]), sizeof workers[i]);
    close(ends[1]);
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    // The workers hold the write end of the pipe: it ends when both are gone, long before they
    // would end by themselves.
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, 5000), 1);
    assert_true(end.revents & POLLHUP);
    close(ends[0]);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_one_at_a_time_is_in_order),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_workers_die_with_their_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
