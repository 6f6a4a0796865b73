// SPDX-License-Identifier: MIT
// Tests of the frame encoders against known-good bytes and a separate byte-by-byte CRC.

// clang-format off: cmocka.h needs these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <stdio.h>
#include <string.h>

#include "net/capture/pfc.h"
#include "net/wire/address.h"
#include "net/wire/ip.h"
#include "transport/roce/frame.h"

#define FRAME_CAP 16384

static const struct flow_id FLOW = {
    .src = 3,
    .dst = 300,
    .src_conn = 0x000118,
    .dst_conn = 0xabcdef,
    .src_port = 0xc123,
    .dst_port = 0xd456,
    .data_dscp = 26,
    .ack_dscp = 26,
    .cnp_dscp = 48,
};

static uint32_t get(const uint8_t *at, int bytes)
{
    uint32_t v = 0;
    while (bytes--)
        v = v << 8 | *at++;
    return v;
}

static void assert_hex(const uint8_t *bytes, size_t n, const char *hex)
{
    char text[2 * 128 + 1];
    assert_true(n <= 128);
    for (size_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, hex);
}

// The CRC of annex A17.3.3 over a whole frame, bit by bit. It shares no code with the encoder.
static uint32_t slow_icrc(const uint8_t *frame, size_t icrc_at)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < 8 + icrc_at - ETHERNET_BYTES; i++) {
        size_t at = i - 8; // offset in the IP packet
        bool ones =
            i < 8 || at == 1 || at == 8 || at == 10 || at == 11 || at == 26 || at == 27 || at == 32;
        crc ^= ones ? 0xff : frame[ETHERNET_BYTES + at];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

// For any packet: lengths are consistent, the IPv4 header sums to zero, the ICRC is correct.
static void check_frame(const uint8_t *frame, size_t len, size_t trailer)
{
    size_t ip_bytes = get(frame + 16, 2);
    assert_int_equal(len, ETHERNET_BYTES + ip_bytes + trailer);
    assert_int_equal(get(frame + 38, 2), ip_bytes - IPV4_BYTES);
    uint32_t sum = 0;
    for (int i = 0; i < IPV4_BYTES; i += 2)
        sum += get(frame + ETHERNET_BYTES + i, 2);
    assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
    size_t icrc_at = ETHERNET_BYTES + ip_bytes - 4;
    uint32_t crc = slow_icrc(frame, icrc_at);
    for (int i = 0; i < 4; i++)
        assert_int_equal(frame[icrc_at + (size_t)i], crc >> 8 * i & 0xff);
}

static size_t encode_fields(const struct roce_fields *f, uint8_t *out, size_t cap)
{
    static struct frame frame;
    roce_encode(f, &frame);
    return frame_copy(&frame, out, cap);
}

static size_t encode(const struct packet *p, const struct packet_meta *meta, uint16_t int_bytes,
                     uint8_t *frame)
{
    struct flow_id id = FLOW;
    id.int_bytes = int_bytes;
    struct roce_fields f = roce_fields_of(p, meta, &id);
    size_t len = encode_fields(&f, frame, FRAME_CAP);
    assert_int_equal(len, roce_frame_bytes(&f));
    check_frame(frame, len, int_bytes);
    return len;
}

// A frame captured from hardware.
static void test_cnp_of_hardware(void **state)
{
    (void)state;
    const struct roce_fields f = {
        .dst_mac = 0xe41d2dab2bc2,
        .src_mac = 0x7cfe90643b32,
        .src_ip = 0x0a001101,
        .dst_ip = 0x0a001201,
        .src_udp = 0,
        .dst_udp = ROCE_UDP_PORT,
        .ip_id = 0x718c,
        .tos = 48 << 2 | IP_ECT0,
        .ttl = ROCE_TTL,
        .opcode = ROCE_CNP,
        .becn = true,
        .dst_qpn = 0x118,
    };
    uint8_t frame[128];
    size_t len = encode_fields(&f, frame, sizeof frame);
    assert_int_equal(len, 74);
    assert_hex(frame, len,
               "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b70028"
               "00008100ffff40000118000000000000000000000000000000000000000082fd002a");
}

static void test_data_first(void **state)
{
    (void)state;
    const struct packet p = {.kind = PACKET_DATA, .flow = 6, .flags = PACKET_ECT | PACKET_FIRST};
    const struct packet_meta meta = {
        .seq = 0x01fffffe, .message_bytes = 128000000, .payload_bytes = 4096};
    uint8_t frame[FRAME_CAP];
    assert_int_equal(encode(&p, &meta, 0, frame), 14 + 20 + 8 + 12 + 16 + 4096 + 4);
    assert_hex(frame, 14, "02000000012d0200000000040800");
    assert_hex(frame + 14, 10, "456a103cfffe40004011");
    assert_hex(frame + 26, 8, "0a0000040a00012d");
    assert_hex(frame + 34, 8, "c12312b710280000");
    assert_hex(frame + 42, 12, "0600ffff00abcdef00fffffe");
    assert_hex(frame + 54, 16, "00abcdf00000000000abcdf007a12000");
}

static void test_opcodes(void **state)
{
    (void)state;
    const struct {
        uint8_t flags, opcode, reth;
    } table[] = {
        {PACKET_FIRST, ROCE_WRITE_FIRST, 16},
        {0, ROCE_WRITE_MIDDLE, 0},
        {PACKET_LAST | PACKET_ACKREQ, ROCE_WRITE_LAST, 0},
        {PACKET_FIRST | PACKET_LAST | PACKET_ACKREQ, ROCE_WRITE_ONLY, 16},
    };
    uint8_t frame[FRAME_CAP];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct packet p = {.kind = PACKET_DATA, .flags = table[i].flags};
        struct packet_meta meta = {.payload_bytes = 1000};
        assert_int_equal(encode(&p, &meta, 0, frame), 58 + 1000 + table[i].reth);
        assert_int_equal(frame[42], table[i].opcode);
        assert_int_equal(frame[50], table[i].flags & PACKET_ACKREQ ? 0x80 : 0);
    }
}

static void test_padding(void **state)
{
    (void)state;
    uint8_t frame[FRAME_CAP];
    for (uint16_t bytes = 1; bytes <= 64; bytes++) {
        struct packet p = {.kind = PACKET_DATA};
        struct packet_meta meta = {.payload_bytes = bytes};
        assert_int_equal(encode(&p, &meta, 0, frame), 58 + (bytes + 3) / 4 * 4);
        assert_int_equal(frame[43] >> 4, (4 - bytes % 4) % 4);
    }
    struct packet empty = {.kind = PACKET_DATA, .flags = PACKET_FIRST | PACKET_LAST};
    struct packet_meta nothing = {0}, jumbo = {.payload_bytes = 8999};
    assert_int_equal(encode(&empty, &nothing, 0, frame), 74);
    struct packet middle = {.kind = PACKET_DATA};
    assert_int_equal(encode(&middle, &jumbo, 0, frame), 58 + 9000);
}

static void test_ecn_bits(void **state)
{
    (void)state;
    const struct {
        uint8_t kind, flags, tos;
    } table[] = {
        {PACKET_DATA, 0, 26 << 2},
        {PACKET_DATA, PACKET_ECT, 26 << 2 | IP_ECT0},
        {PACKET_DATA, PACKET_ECT | PACKET_CE, 26 << 2 | IP_CE},
        {PACKET_ACK, PACKET_ECT | PACKET_CE, 26 << 2 | IP_CE},
        {PACKET_ACK, PACKET_ECHO_CE, 26 << 2},
        {PACKET_CNP, PACKET_ECT, 48 << 2 | IP_ECT0},
    };
    uint8_t frame[FRAME_CAP];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct packet p = {.kind = table[i].kind & 15u, .flags = table[i].flags};
        struct packet_meta meta = {.seq = 1};
        struct roce_fields f = roce_fields_of(&p, &meta, &FLOW);
        encode_fields(&f, frame, sizeof frame);
        assert_int_equal(frame[15], table[i].tos);
    }
}

// Packets against the direction of the flow: addresses are swapped and the QP is the sender's. An
// ACK has the PSN before the next expected one.
static void test_ack_nak_cnp(void **state)
{
    (void)state;
    const struct {
        uint8_t kind, flags;
        uint32_t psn, msn;
        const char *bth, *extension;
    } table[] = {
        {PACKET_ACK, 0, 8, 2, "1100ffff0000011800000007", "1f000002"},
        {PACKET_ACK, 0, 0, 0x1abcdef0, "1100ffff0000011800ffffff", "1fbcdef0"},
        {PACKET_ACK, PACKET_NAK, 8, 2, "1100ffff0000011800000008", "60000002"},
        {PACKET_CNP, 0, 99, 7, "8100ffff4000011800000000", "00000000"},
    };
    uint8_t frame[FRAME_CAP];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct packet p = {.kind = table[i].kind & 15u, .flags = table[i].flags};
        struct packet_meta meta = {.seq = table[i].psn, .msn = table[i].msn};
        assert_int_equal(encode(&p, &meta, 0, frame), p.kind == PACKET_CNP ? 74 : 62);
        assert_hex(frame, 12, "02000000000402000000012d");
        assert_hex(frame + 26, 8, "0a00012d0a000004");
        assert_hex(frame + 34, 4, "d45612b7");
        assert_hex(frame + 42, 12, table[i].bth);
        assert_hex(frame + 54, 4, table[i].extension);
    }
}

// The INT trailer follows the IP packet and does not change it.
static void test_int_trailer(void **state)
{
    (void)state;
    uint8_t with[FRAME_CAP], without[FRAME_CAP];
    for (uint8_t kind = PACKET_DATA; kind <= PACKET_ACK; kind++) {
        struct packet p = {.kind = kind & 15u};
        struct packet_meta meta = {.seq = 5, .payload_bytes = kind == PACKET_DATA ? 1001 : 0};
        size_t len = encode(&p, &meta, 0, without);
        assert_int_equal(encode(&p, &meta, 42, with), len + 42);
        assert_memory_equal(with, without, len);
    }
    struct packet cnp = {.kind = PACKET_CNP};
    struct flow_id id = FLOW;
    id.int_bytes = 42;
    struct packet_meta nothing = {0};
    struct roce_fields f = roce_fields_of(&cnp, &nothing, &id);
    assert_int_equal(roce_frame_bytes(&f), 74);
}

// A shortened frame is a prefix of the whole frame, and nothing is written after it.
static void test_cut_anywhere(void **state)
{
    (void)state;
    struct packet p = {.kind = PACKET_DATA, .flags = PACKET_FIRST};
    struct packet_meta meta = {.payload_bytes = 30};
    struct flow_id id = FLOW;
    id.int_bytes = 6;
    struct roce_fields f = roce_fields_of(&p, &meta, &id);
    uint8_t whole[256], cut[256];
    size_t len = encode_fields(&f, whole, sizeof whole);
    for (size_t cap = 0; cap <= len; cap++) {
        memset(cut, 0xa5, sizeof cut);
        assert_int_equal(encode_fields(&f, cut, cap), cap);
        assert_memory_equal(cut, whole, cap);
        assert_int_equal(cut[cap], 0xa5);
    }
}

static void test_pfc(void **state)
{
    (void)state;
    uint8_t frame[128];
    static struct frame f;
    pfc_encode(switch_mac(4), 0x48, 65535, &f);
    assert_int_equal(frame_copy(&f, frame, sizeof frame), 60);
    assert_hex(frame, 34, "0180c2000001020001000005880801010048000000000000ffff00000000ffff0000");
    for (int i = 34; i < 60; i++)
        assert_int_equal(frame[i], 0);
    pfc_encode(switch_mac(4), 0x08, 0, &f);
    assert_int_equal(frame_copy(&f, frame, 30), 30);
    assert_hex(frame + 16, 14, "0008000000000000000000000000");
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cnp_of_hardware),
        cmocka_unit_test(test_data_first),
        cmocka_unit_test(test_opcodes),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_ecn_bits),
        cmocka_unit_test(test_ack_nak_cnp),
        cmocka_unit_test(test_int_trailer),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_pfc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
