// SPDX-License-Identifier: MIT
// Tests of capture files: order, time stamps, snaplen, filter, counts, write errors.
//
// `test_capture FILE SNAPLEN INT_BYTES` instead writes a sample of every kind of packet for
// check_capture.py. The expected counts are in a comment at sample_write().

// clang-format off: cmocka.h needs these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/capture/capture.h"
#include "net/wire/address.h"
#include "transport/roce/frame.h"

#define PCAP_NANO_MAGIC 0xa1b23c4d
#define PCAP_ETHERNET 1

static struct flow_id ids[] = {
    {.frames = &roce_frames,
     .src = 0,
     .dst = 1,
     .src_conn = 0x100,
     .dst_conn = 0x101,
     .src_port = 0xc001,
     .dst_port = 0xc002,
     .data_dscp = 26,
     .ack_dscp = 26,
     .cnp_dscp = 48},
    {.frames = &roce_frames,
     .src = 1,
     .dst = 0,
     .src_conn = 0x102,
     .dst_conn = 0x103,
     .src_port = 0xc003,
     .dst_port = 0xc004,
     .job = 1,
     .dim = 2,
     .data_dscp = 26,
     .ack_dscp = 26,
     .cnp_dscp = 48},
};
static const struct flow_ids flows = {.ids = ids, .n = 2, .cap = 2};
static struct packet_meta slots[2]; // slots[1]: of the packet seen now
static struct meta_pool meta = {.slots = slots, .per_slot = 5};

// The capture point is the near end of port 5, of port 7, and the far end of port 9.
static const struct capture_port ports[] = {
    {.port = 5},
    {.port = 7},
    {.port = 9, .far_end = true, .delay_ps = 10 * PS_PER_NS, .src_mac = 0x020001000001},
};

struct record_header {
    uint32_t s, ns, kept, len;
};

struct file {
    char path[32];
    struct capture *capture;
    FILE *in;
    struct err err;
};

static int setup(void **state)
{
    static struct file file; // one test runs at a time
    memset(&file, 0, sizeof file);
    strcpy(file.path, "capture.XXXXXX");
    int fd = mkstemp(file.path);
    *state = &file;
    return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
    struct file *f = *state;
    if (f->in)
        fclose(f->in);
    err_free(&f->err);
    return unlink(f->path);
}

static struct capture_config config_of(const struct file *f)
{
    return (struct capture_config){.path = f->path,
                                   .snaplen = 128,
                                   .to_ps = PS_NEVER,
                                   .ports = ports,
                                   .n_ports = 3,
                                   .flows = &flows};
}

static const uint32_t order[] = {0, 1};

static struct packet data(uint32_t psn, uint16_t bytes)
{
    slots[1] = (struct packet_meta){.seq = psn, .payload_bytes = bytes};
    return (struct packet){.kind = PACKET_DATA, .meta = 1};
}

static void seen(struct capture *c, uint32_t port, const struct packet *p, ps_t start_ps,
                 ps_t end_ps)
{
    struct capture_packet report = {.source = (port - 5) / 2,
                                    .packet = p,
                                    .meta = &meta,
                                    .start_ps = start_ps,
                                    .end_ps = end_ps};
    capture_seen(c, &report);
}

static void see(struct file *f, uint32_t port, struct packet p, ps_t start_ps)
{
    seen(f->capture, port, &p, start_ps, start_ps + 100 * PS_PER_NS);
}

static void finish(struct file *f, uint64_t expected)
{
    struct capture_count count;
    assert_int_equal(capture_close(f->capture, &count, &f->err), 0);
    assert_int_equal(count.packets, expected);
    uint32_t header[6];
    f->in = fopen(f->path, "rb");
    assert_non_null(f->in);
    assert_int_equal(fread(header, sizeof header, 1, f->in), 1);
    assert_int_equal(header[0], PCAP_NANO_MAGIC);
    assert_int_equal(header[5], PCAP_ETHERNET);
}

// Read the next record; its bytes are written to `frame`.
static bool next(struct file *f, struct record_header *h, uint8_t *frame, size_t cap)
{
    if (fread(h, sizeof *h, 1, f->in) != 1)
        return false;
    assert_true(h->kept <= cap);
    assert_int_equal(fread(frame, h->kept, 1, f->in), 1);
    return true;
}

static void expect_next(struct file *f, uint32_t ns, uint32_t psn)
{
    struct record_header h;
    uint8_t frame[128];
    assert_true(next(f, &h, frame, sizeof frame));
    assert_int_equal(h.s, 0);
    assert_int_equal(h.ns, ns);
    assert_int_equal(frame[53], psn);
}

static void expect_end(struct file *f)
{
    struct record_header h;
    assert_false(next(f, &h, NULL, 0));
}

static void test_order_and_stamps(void **state)
{
    struct file *f = *state;
    const struct {
        enum capture_stamp stamp;
        uint32_t late;
    } table[] = {{CAPTURE_FIRST_BIT, 0}, {CAPTURE_LAST_BIT, 100}};
    for (int i = 0; i < 2; i++) {
        struct capture_config config = config_of(f);
        config.stamp = table[i].stamp;
        assert_non_null(f->capture = capture_open(&config, &f->err));
        see(f, 9, data(3, 100), 1000 * PS_PER_NS);
        see(f, 9, data(4, 100), 1005 * PS_PER_NS);
        see(f, 7, data(2, 100), 1010 * PS_PER_NS);
        capture_advance(f->capture, 1010 * PS_PER_NS);
        see(f, 5, data(1, 100), 1010 * PS_PER_NS);
        see(f, 5, data(5, 100), 1015 * PS_PER_NS + 499);
        see(f, 7, data(6, 100), 1015 * PS_PER_NS + 500);
        capture_advance(f->capture, 1016 * PS_PER_NS);
        finish(f, 6);
        const uint32_t ns[] = {1010, 1010, 1010, 1015, 1015, 1016};
        for (uint32_t k = 0; k < 6; k++)
            expect_next(f, ns[k] + table[i].late, k + 1);
        expect_end(f);
        fclose(f->in);
        f->in = NULL;
    }
}

// The file is the same whether ports report alternately or one after the other.
static void test_order_independent_of_reports(void **state)
{
    struct file *f = *state;
    enum { PACKETS = 2000, BYTES = 24 + 3 * PACKETS * (16 + 62) };
    static char first[BYTES + 1], second[BYTES + 1];
    const uint32_t port[] = {9, 5, 7};
    for (int turn = 0; turn < 2; turn++) {
        struct capture_config config = config_of(f);
        assert_non_null(f->capture = capture_open(&config, &f->err));
        for (uint32_t i = 0; i < 3 * PACKETS; i++) {
            uint32_t which = turn ? i / PACKETS : i % 3, nth = turn ? i % PACKETS : i / 3;
            see(f, port[which], data(nth, 4), nth / 2 * 5 * PS_PER_NS);
            if (!turn && which == 2)
                capture_advance(f->capture, nth / 2 * 5 * PS_PER_NS);
        }
        finish(f, 3 * PACKETS);
        rewind(f->in);
        assert_int_equal(fread(turn ? second : first, 1, BYTES + 1, f->in), BYTES);
        fclose(f->in);
        f->in = NULL;
    }
    assert_memory_equal(first, second, BYTES);
}

// Hand what a capture without a file has got to the one that writes the file.
static void hand_over(struct capture *from, struct capture *to)
{
    struct parcel written = {0};
    capture_hand_over(from, &written);
    struct parcel p = parcel_read(written.bytes, written.n);
    capture_hand_over(to, &p);
    assert_true(parcel_is_read(&p));
    parcel_free(&written);
}

// Another process reports the ports 5 and 9, and the pause from which on packets are written.
static void test_another_process(void **state)
{
    struct file *f = *state;
    struct capture_config config = config_of(f);
    config.trigger = (struct trigger){.event = TRIGGER_PAUSE};
    assert_non_null(f->capture = capture_open(&config, &f->err));
    config.path = NULL; // the other one writes no file
    struct capture *other = capture_open(&config, &f->err);
    for (uint32_t i = 0; i < 30; i++) {
        ps_t at_ps = (i / 3 + 1) * 5 * PS_PER_NS;
        uint32_t port = 9 - 2 * (i % 3);
        struct packet p = data(i + 1, 100);
        seen(port == 7 ? f->capture : other, port, &p, at_ps, at_ps);
        if (i == 7)
            capture_paused(other, PS_PER_NS, 14 * PS_PER_NS);
        if (i % 6 == 5) {
            hand_over(other, f->capture);
            capture_advance(f->capture, at_ps);
        }
    }
    assert_int_equal(capture_close(other, NULL, &f->err), 0);
    finish(f, 26); // but those before 14 ns; packets of port 9 arrive 10 ns later
    for (uint32_t n = 2; n < 12; n++) {
        for (uint32_t back = 0; n < 10 && back < 2; back++)
            expect_next(f, 5 * (n + 1), 3 * n + 3 - back);
        expect_next(f, 5 * (n + 1), 3 * n - 5);
    }
}

static void test_snaplen(void **state)
{
    struct file *f = *state;
    const struct {
        uint32_t snaplen, kept;
    } table[] = {{14, 14}, {80, 80}, {1000, 1000}, {1058, 1058}, {65535, 1058}, {UINT32_MAX, 1058}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct capture_config config = config_of(f);
        config.snaplen = table[i].snaplen;
        assert_non_null(f->capture = capture_open(&config, &f->err));
        see(f, 5, data(1, 1000), 0);
        finish(f, 1);
        struct record_header h;
        uint8_t frame[2048];
        assert_true(next(f, &h, frame, sizeof frame));
        assert_int_equal(h.kept, table[i].kept);
        assert_int_equal(h.len, 1058);
        expect_end(f);
        fclose(f->in);
        f->in = NULL;
    }
}

static void test_filter(void **state)
{
    struct file *f = *state;
    struct capture_config config = config_of(f);
    config.filter = "udp port 4791 and src host 10.0.0.1 and udp[8] = 7";
    assert_non_null(f->capture = capture_open(&config, &f->err));
    struct packet reverse = data(2, 8), ack = {.kind = PACKET_ACK, .meta = 1};
    struct packet pfc = {.kind = PACKET_PFC, .pfc = packet_pfc(8, 65535)};
    reverse.flow = 1;
    see(f, 5, data(1, 8), 1 * PS_PER_NS);
    see(f, 5, reverse, 2 * PS_PER_NS);
    see(f, 5, ack, 3 * PS_PER_NS);
    see(f, 9, pfc, 4 * PS_PER_NS);
    see(f, 5, data(5, 8), 5 * PS_PER_NS);
    finish(f, 2);
    expect_next(f, 1, 1);
    expect_next(f, 5, 5);
    expect_end(f);
}

static void test_bad_filter(void **state)
{
    struct file *f = *state;
    assert_int_equal(capture_check_filter(NULL, 128, "capture[0].filter", &f->err), 0);
    assert_int_equal(capture_check_filter("ip", 128, "capture[0].filter", &f->err), 0);
    assert_int_equal(f->err.n_errors, 0);
    assert_int_equal(capture_check_filter("upd port 4791", 128, "capture[0].filter", &f->err), -1);
    assert_int_equal(f->err.n_errors, 1);
    assert_non_null(strstr(f->err.items[0].text, "capture[0].filter: \"upd port 4791\""));
}

static void test_pfc_source(void **state)
{
    struct file *f = *state;
    struct capture_config config = config_of(f);
    assert_non_null(f->capture = capture_open(&config, &f->err));
    struct packet pfc = {.kind = PACKET_PFC, .pfc = packet_pfc(8, 65535)};
    see(f, 9, pfc, 0);
    finish(f, 1);
    struct record_header h;
    uint8_t frame[128];
    assert_true(next(f, &h, frame, sizeof frame));
    assert_int_equal(h.len, 60);
    assert_memory_equal(frame + 6, "\x02\x00\x01\x00\x00\x01\x88\x08\x01\x01", 10);
}

static void test_no_such_directory(void **state)
{
    struct file *f = *state;
    struct capture_config config = config_of(f);
    config.path = "no/such/directory.pcap";
    assert_null(capture_open(&config, &f->err));
    assert_int_equal(f->err.n_errors, 1);
    assert_string_equal(f->err.items[0].text, "no/such/directory.pcap: No such file or directory");
}

static void test_full_disk(void **state)
{
    struct file *f = *state;
    struct capture_config config = config_of(f);
    config.path = "/dev/full";
    for (uint32_t packets = 1; packets <= 1000; packets += 999) { // the write fails at the end, or
                                                                  // earlier
        assert_non_null(f->capture = capture_open(&config, &f->err));
        for (uint32_t i = 0; i < packets; i++) {
            see(f, 5, data(i, 1000), i * PS_PER_NS);
            capture_advance(f->capture, i * PS_PER_NS);
        }
        assert_int_equal(capture_close(f->capture, NULL, &f->err), -1);
    }
    assert_int_equal(f->err.n_errors, 2);
    assert_string_equal(f->err.items[0].text, "/dev/full: No space left on device");
    assert_string_equal(f->err.items[1].text, f->err.items[0].text);
    assert_int_equal(capture_write_qpmap("/dev/full", &flows, order, &f->err), -1);
    assert_string_equal(f->err.items[2].text, f->err.items[0].text);
}

// A reader of stdout sees every record whose order is final. If the reader ends, only the capture
// does.
static void test_live_stdout(void **state)
{
    struct file *f = *state;
    int ends[2], saved = dup(STDOUT_FILENO);
    fflush(stdout);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    struct capture_config config = config_of(f);
    config.path = "-";
    f->capture = capture_open(&config, &f->err);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(ends[1]);

    char bytes[512];
    assert_non_null(f->capture);
    assert_int_equal(read(ends[0], bytes, sizeof bytes), 24);
    see(f, 5, data(1, 4), 0);
    see(f, 5, data(2, 4), 1);
    capture_advance(f->capture, 1);
    assert_int_equal(read(ends[0], bytes, sizeof bytes), 16 + 62);
    close(ends[0]);
    capture_advance(f->capture, 2);
    assert_int_equal(capture_close(f->capture, NULL, &f->err), 0);
    assert_int_equal(f->err.n_errors, 0);
    assert_string_equal(f->err.items[0].text, "stdout: the program that reads the capture "
                                              "closed it before the run ended; the rest was not "
                                              "written");
}

static void test_qpmap(void **state)
{
    struct file *f = *state;
    char text[1024];
    assert_int_equal(capture_write_qpmap(f->path, &flows, order, &f->err), 0);
    f->in = fopen(f->path, "r");
    assert_non_null(f->in);
    text[fread(text, 1, sizeof text - 1, f->in)] = 0;
    assert_string_equal(
        text,
        "flow,job,dim,src,dst,src_ip,dst_ip,src_qpn,dst_qpn,src_udp_port,dst_udp_port,name,"
        "filter\n"
        "0,0,0,0,1,10.0.0.1,10.0.0.2,256,257,49153,49154,0.0,(ip.src == 10.0.0.1 && ip.dst == "
        "10.0.0.2 && infiniband.bth.destqp == 0x101) || (ip.src == 10.0.0.2 && ip.dst == "
        "10.0.0.1 && infiniband.bth.destqp == 0x100)\n"
        "1,1,2,1,0,10.0.0.2,10.0.0.1,258,259,49155,49156,1.0,(ip.src == 10.0.0.2 && ip.dst == "
        "10.0.0.1 && infiniband.bth.destqp == 0x103) || (ip.src == 10.0.0.1 && ip.dst == "
        "10.0.0.2 && infiniband.bth.destqp == 0x102)\n");
}

// The sample has 4000 messages of 3 packets with their ACKs, 400 CNPs, 400 PAUSEs and 400 resumes:
// --expect-data 12000 --expect-ack 4000 --expect-nak 40 --expect-ce 1200 --expect-cnp 400
// --expect-pfc 800 --expect-total 17200
static int sample_write(const char *path, uint32_t snaplen, uint32_t int_bytes)
{
    struct err err = {0};
    struct capture_config config = {.path = path,
                                    .snaplen = snaplen,
                                    .to_ps = PS_NEVER,
                                    .ports = ports,
                                    .n_ports = 3,
                                    .flows = &flows};
    struct int_hop hops[2 * 5] = {0};
    ids[0].int_bytes = ids[1].int_bytes = (uint16_t)int_bytes;
    for (unsigned h = 0; h < 3; h++)
        hops[5 + h] = (struct int_hop){(ps_t)(h + 1) * PS_PER_US,
                                       128000 * h,
                                       UINT64_C(100000000000) << h,
                                       8000 * h,
                                       (h + 4) & 0xff,
                                       0};
    meta.hops = hops;
    struct capture *c = capture_open(&config, &err);
    if (!c)
        return EXIT_FAILURE;
    for (uint32_t i = 0; i < 12000; i++) {
        ps_t now = i * 333 * PS_PER_NS + 123;
        struct packet p = data(i, (uint16_t)(i % 3 == 2 ? i % 4096 + 1 : 4096));
        p.flags = (uint8_t)(i % 3 == 0   ? PACKET_FIRST | PACKET_ECT
                            : i % 3 == 2 ? PACKET_LAST | PACKET_ECT | PACKET_ACKREQ
                                         : PACKET_ECT);
        p.flags |= (uint8_t)(i % 10 == 7 ? PACKET_CE : 0);
        p.flow = i / 3 % 2;
        slots[1].int_enabled = true;
        slots[1].int_hops = 3;
        slots[1].message_bytes = 2 * 4096 + (i + 2) % 4096 + 1;
        seen(c, p.flow ? 9 : 5, &p, now, now + 332 * PS_PER_NS);
        struct packet ack = {.kind = PACKET_ACK, .flow = p.flow, .meta = 1};
        slots[1] = (struct packet_meta){.msn = i / 3 + 1, .seq = i + 1};
        ack.flags = PACKET_ECT | (i % 300 == 2 ? PACKET_NAK : 0);
        if (i % 3 == 2)
            seen(c, p.flow ? 7 : 9, &ack, now + 333 * PS_PER_NS, now + 340 * PS_PER_NS);
        struct packet cnp = {.kind = PACKET_CNP, .flow = p.flow};
        if (i % 30 == 4)
            seen(c, 7, &cnp, now + PS_PER_NS, now + 8 * PS_PER_NS);
        struct packet pfc = {.kind = PACKET_PFC, .pfc = packet_pfc(8, i % 2 ? 65535 : 0)};
        if (i % 30 == 5 || i % 30 == 10)
            seen(c, 9, &pfc, now, now + 7 * PS_PER_NS);
        capture_advance(c, now);
    }
    return capture_close(c, NULL, &err) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return sample_write(argv[1], (uint32_t)strtoul(argv[2], NULL, 10),
                            (uint32_t)strtoul(argv[3], NULL, 10));
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order_and_stamps, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order_independent_of_reports, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_process, setup, teardown),
        cmocka_unit_test_setup_teardown(test_snaplen, setup, teardown),
        cmocka_unit_test_setup_teardown(test_filter, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_filter, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pfc_source, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_such_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_live_stdout, setup, teardown),
        cmocka_unit_test_setup_teardown(test_qpmap, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
