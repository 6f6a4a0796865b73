// SPDX-License-Identifier: MIT
// Files of algorithms: what is read, every error with its line, and what would never end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/nccl/xml/xml_file.h"
#include "tests/config/load.h"

static struct xml_algorithm *read_text(const char *text, struct err *err)
{
    file_write("a.xml", text, strlen(text));
    struct xml_algorithm *a = xml_file_read(folder, "a.xml", "file", err);
    file_remove("a.xml");
    return a;
}

#define ALGO(gpus)                                                                                 \
    "<algo name=\"n\" nchunksperloop=\"4\" nchannels=\"2\" proto=\"LL\" ngpus=\"" gpus             \
    "\" coll=\"allreduce\">\n"
#define GPU(id) "<gpu id=\"" id "\" i_chunks=\"4\" o_chunks=\"4\" s_chunks=\"2\">\n"
#define TB(id, send, recv, chan)                                                                   \
    "<tb id=\"" id "\" send=\"" send "\" recv=\"" recv "\" chan=\"" chan "\">\n"
#define STEP(s, type, rest) "<step s=\"" s "\" type=\"" type "\" " rest "/>\n"
#define AFTER(block, step) "depid=\"" block "\" deps=\"" step "\""
#define EMPTY "<tb id=\"0\"/>"
#define END "</tb></gpu>\n"

// Parts may stand in any order.
static void test_read(void **state)
{
    (void)state;
    struct err err = {0};
    struct xml_algorithm *a = read_text(
        "<?xml version=\"1.0\"?><!-- no step -->\n" ALGO("2") GPU("1") TB("1", "-1", "-1", "-1")
            STEP("0", "cpy", "cnt=\"2\" srcoff=\"1\" dstbuf=\"s\" dstoff=\"0\"") "</tb>" TB(
                "0", "-1", "0", "1") STEP("0", "r", "cnt=\"3\" depid=\"1\" deps=\"0\"")
                STEP("1", "re", "srcbuf=\"s\" srcoff=\"0\" dstoff=\"1\"")
                    STEP("2", "re", "srcbuf=\"s\" srcoff=\"1\" dstoff=\"1\" hasdep=\"1\"")
                        STEP("3", "re", "srcbuf=\"s\" srcoff=\"1\" dstoff=\"1\"") END GPU("0")
                            TB("0", "1", "-1", "1") STEP("0", "s", "cnt=\"3\"") END "</algo>\n",
        &err);
    assert_int_equal(err.n_errors, 0);
    assert_non_null(a);
    assert_string_equal(a->name, "n");
    assert_int_equal(a->protocol, NCCL_LL);
    assert_int_equal(a->n_blocks, 3);
    assert_int_equal(a->n_steps, 6);
    assert_int_equal(a->most_blocks, 2);
    assert_int_equal(a->together_least, 1);
    assert_int_equal(a->blocks[0].sends_to, 1);
    assert_int_equal(a->blocks[1].receives_from, 0);
    assert_int_equal(a->blocks[1].n_steps, 4);
    const struct xml_step *steps = &a->steps[a->blocks[1].first_step];
    assert_int_equal(steps[0].after_block, 1);
    assert_int_equal(steps[0].count, 3);
    assert_int_equal(steps[0].line, 7);
    assert_false(steps[1].joined);
    assert_true(steps[2].joined);  // the same place
    assert_false(steps[3].joined); // what comes before is awaited
    assert_int_equal(a->blocks[2].n_steps, 1);
    free(a);
    err_free(&err);
}

#define PAIR(first, second)                                                                        \
    ALGO("2")                                                                                      \
    GPU("0") TB("0", "1", "1", "0") first END GPU("1") TB("0", "0", "0", "0") second END "</algo>\n"
#define SEND STEP("0", "s", "cnt=\"1\"")
#define RECEIVE STEP("0", "r", "cnt=\"1\"")
#define ONE(steps)                                                                                 \
    ALGO("2") GPU("0") TB("0", "1", "-1", "0") steps END GPU("1") EMPTY "</gpu></algo>"

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "line 1: is not XML: no element found"},
        {"<algo name=1>", "line 1: is not XML: not well-formed"},
        {ALGO("2") "<gpu id=\"0\">\n", "line 3: is not XML"},
        {"<!DOCTYPE a [<!ENTITY x \"y\">]>\n<algo/>", "line 1: an algorithm has no document type"},
        {"<graph/>", "line 1: <graph> is not known here: <algo> is expected"},
        {ALGO("2") "<tb/></algo>", "line 2: <tb> is not known here: <gpu> is expected"},
        {ONE("<step type=\"s\"><x/></step>"), "line 4: <x> is not known here"},
        {"<algo name=\"n\"/>", "line 1: <algo> has no coll"},
        {"<algo name=\"n\" coll=\"c\" proto=\"LL256\"/>",
         "line 1: proto=\"LL256\" is none of LL, LL128, Simple"},
        {ALGO("0") "</algo>", "ngpus=\"0\" is no number from 1 to 1048576"},
        {ALGO("2x") "</algo>", "ngpus=\"2x\" is no number"},
        {ALGO("3") GPU("0") EMPTY "</gpu></algo>", "line 1: GPU 1 of 3 is missing"},
        {ALGO("2") GPU("2") EMPTY "</gpu></algo>", "line 2: id=\"2\" is no number from 0 to 1"},
        {ALGO("2") GPU("1") "</gpu>" GPU("1") "</gpu></algo>", "line 3: GPU 1 stands there twice"},
        {ALGO("1") GPU("0") EMPTY "</gpu>\n" GPU("0") "</gpu></algo>", "there are more GPUs"},
        {ALGO("1") GPU("0") EMPTY "\n" EMPTY "</gpu></algo>",
         "line 4: GPU 0 has thread block 0 twice"},
        {ALGO("1") GPU("0") "<tb id=\"1\"/></gpu></algo>",
         "line 3: thread block 1 of GPU 0: its 1 thread blocks must be numbered from 0"},
        {ALGO("2") GPU("0") TB("0", "0", "-1", "0") END "</algo>",
         "line 3: send=\"0\" is the GPU itself"},
        {ALGO("2") GPU("0") TB("0", "1", "-1", "2") END "</algo>",
         "line 3: chan=\"2\" is no number from 0 to 1"},
        {ONE(STEP("0", "send", "")), "type=\"send\" is none of s, r, rcs, rrs, rrc, rrcs, cpy"},
        {ONE(STEP("1", "s", "")), "line 4: the step has number 1 where 0 is next"},
        {ONE(STEP("0", "s", "cnt=\"0\"")), "cnt=\"0\" is no number from 1 to 71"},
        {ONE(STEP("0", "s", "srcoff=\"4\"")),
         "srcoff=\"4\" is outside of buffer i, which has 4 chunks"},
        {ONE(STEP("0", "s", "srcbuf=\"x\"")), "srcbuf=\"x\" is none of i, o, s"},
        {ONE(STEP("0", "rrs", "")),
         "line 4: step 0 receives, but thread block 0 has no GPU to receive from"},
        {ALGO("2") GPU("0") TB("0", "-1", "1", "0") SEND END "</algo>",
         "line 4: step 0 sends, but thread block 0 has no GPU to send to"},
        {ONE(SEND), "line 4: unmatched sends: GPU 0, thread block 0 sends to GPU 1 on channel 0, "
                    "which receives 0 times there"},
        {PAIR(SEND, ""), "line 4: unmatched sends: GPU 0, thread block 0"},
        {PAIR("", RECEIVE), "line 7: unmatched receives: GPU 1, thread block 0 receives from GPU 0 "
                            "on channel 0, which sends 0 times there"},
        {ALGO("2") GPU("0") EMPTY "</gpu>\n" GPU("1") TB("0", "-1", "0", "0") RECEIVE END "</algo>",
         "line 6: unmatched receives: GPU 1"},
        {PAIR(SEND, STEP("0", "r", "cnt=\"2\"")),
         "sends 1 chunks to GPU 1 on channel 0, where thread block 0 receives 2 (line 8)"},
        {ALGO("2") GPU("0") TB("0", "1", "-1", "0") SEND END GPU("1") TB("0", "-1", "0", "0")
             RECEIVE "</tb>" TB("1", "-1", "0", "0") RECEIVE END "</algo>",
         "line 9: GPU 1 has two thread blocks that receive from GPU 0 on channel 0"},
        {ONE(STEP("0", "nop", AFTER("1", "0"))), "line 4: the step waits for thread block 1: GPU 0 "
                                                 "has 1"},
        {ONE(STEP("0", "nop", AFTER("0", "1"))),
         "line 4: the step waits for step 1 of thread block 0, which has 1"},
        {ONE(STEP("0", "nop", AFTER("0", "-1"))), "line 4: the step waits for step"},
        {ONE(STEP("0", "nop", AFTER("0", "0"))),
         "line 4: the steps never end: GPU 0, thread block 0, step 0 (line 4) waits for the first"},
        {PAIR(RECEIVE STEP("1", "s", ""), RECEIVE STEP("1", "s", "")),
         "line 4: the steps never end: GPU 0, thread block 0, step 0 (line 4) waits for GPU 1, "
         "thread block 0, step 0 (line 9) waits for the first one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        if (read_text(cases[i].text, &err) != NULL)
            fail_msg("accepted: %s", cases[i].text);
        assert_int_equal(err.n_errors, 1);
        assert_said(&err, cases[i].text, cases[i].said);
        err_free(&err);
    }
}

// `n` sends before as many receives, in both directions, with chunks that go one by one.
static void check_room(unsigned n, uint32_t together_least)
{
    char text[8192], *at = text;
    struct err err = {0};
    at += sprintf(at, ALGO("2"));
    for (unsigned gpu = 0; gpu < 2; gpu++) {
        at += sprintf(at, "<gpu id=\"%u\"><tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">", gpu,
                      1 - gpu, 1 - gpu);
        at += sprintf(at, "<step type=\"s\" cnt=\"%u\"/><step type=\"r\" cnt=\"%u\"/></tb></gpu>",
                      n, n);
    }
    sprintf(at, "</algo>");
    struct xml_algorithm *a = read_text(text, &err);
    assert_non_null(a);
    assert_int_equal(a->together_least, together_least);
    free(a);
    err_free(&err);
}

// The buffers of LL hold eight messages.
static void test_room(void **state)
{
    (void)state;
    check_room(1, 1);
    check_room(8, 1);
    check_room(9, 2);
    check_room(16, 2);
    check_room(17, 3);
    check_room(71, 9);
}

// Nine sends before the first receive fill the buffers with operations of any size.
static void test_full(void **state)
{
    (void)state;
    char text[8192], *at = text;
    struct err err = {0};
    at += sprintf(at, ALGO("2"));
    for (unsigned gpu = 0; gpu < 2; gpu++) {
        at += sprintf(at, "<gpu id=\"%u\"><tb id=\"0\" send=\"%u\" recv=\"%u\" chan=\"0\">", gpu,
                      1 - gpu, 1 - gpu);
        for (unsigned i = 0; i < 18; i++)
            at += sprintf(at, "<step type=\"%s\"/>", i < 9 ? "s" : "r");
        at += sprintf(at, "</tb></gpu>");
    }
    sprintf(at, "</algo>");
    assert_null(read_text(text, &err));
    assert_said(&err, text,
                "step 8 (line 2) waits for GPU 1, thread block 0, step 8 (line 2) waits "
                "for the first one; a buffer holds 8 messages");
    err_free(&err);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
