// SPDX-License-Identifier: MIT
// Tests of units: exact parsing, shortest formatting, serialization times without drift or
// overflow.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/units.h"

enum quantity { RATE, TIME, BYTES, COUNT };

static int parse(enum quantity quantity, const char *text, uint64_t *value)
{
    ps_t ps = 0;
    int status = -1;
    switch (quantity) {
    case RATE:
        return parse_rate(text, value);
    case TIME:
        status = parse_time(text, &ps);
        *value = (uint64_t)ps;
        return status;
    case BYTES:
        return parse_bytes(text, value);
    case COUNT:
        return parse_count(text, value);
    }
    return status;
}

static void test_parse_exact(void **state)
{
    (void)state;
    static const struct {
        enum quantity quantity;
        const char *text;
        uint64_t value;
    } cases[] = {
        {RATE, "100Gbps", UINT64_C(100000000000)},
        {RATE, "0.5Gbps", 500000000},
        {RATE, "2.4Tbps", UINT64_C(2400000000000)},
        {RATE, "10Mbps", 10000000},
        {RATE, "64Kbps", 64000},
        {RATE, "7bps", 7},
        {RATE, "0bps", 0},
        {RATE, "18446744073709551615bps", UINT64_MAX},
        {TIME, "12.5us", 12500000},
        {TIME, "25ns", 25000},
        {TIME, "2.5\u00b5s", 2500000}, // the sign micro
        {TIME, "2.5\u03bcs", 2500000}, // the Greek letter
        {TIME, "0.001ns", 1},
        {TIME, "1.000ps", 1},
        {TIME, "1s", UINT64_C(1000000000000)},
        {TIME, "0.000000000001s", 1},
        {TIME, "200ms", UINT64_C(200000000000)},
        {TIME, "9223372036854775806ps", INT64_MAX - 1},
        {BYTES, "128MB", 128000000},
        {BYTES, "32MiB", 33554432},
        {BYTES, "0.5KiB", 512},
        {BYTES, "0.0009765625KiB", 1},
        {BYTES, "4096", 4096},
        {BYTES, "9B", 9},
        {BYTES, "1.5GB", 1500000000},
        {BYTES, "1GiB", 1073741824},
        {BYTES, "1TiB", UINT64_C(1099511627776)},
        {BYTES, "2TB", UINT64_C(2000000000000)},
        {BYTES, "1PB", UINT64_C(1000000000000000)},
        {BYTES, "0.5PiB", UINT64_C(562949953421312)},
        {COUNT, "16", 16},
        {COUNT, "007", 7},
        {COUNT, "18446744073709551615", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 99;
        if (parse(cases[i].quantity, cases[i].text, &value) != 0 || value != cases[i].value)
            fail_msg("\"%s\" gives %llu", cases[i].text, (unsigned long long)value);
    }
}

static void test_parse_rejects(void **state)
{
    (void)state;
    static const struct {
        enum quantity quantity;
        const char *text;
    } cases[] = {
        {RATE, "100gbps"},
        {RATE, "100GB"},
        {RATE, "100kbps"},
        {RATE, "100"},
        {RATE, "100Gbps "},
        {RATE, " 100Gbps"},
        {RATE, "100 Gbps"},
        {RATE, "-1Gbps"},
        {RATE, "+1Gbps"},
        {RATE, ""},
        {RATE, "Gbps"},
        {RATE, ".5Gbps"},
        {RATE, "5.Gbps"},
        {RATE, "1.2.3Gbps"},
        {RATE, "0.5bps"},
        {RATE, "0.0000000001Gbps"},
        {RATE, "18446744073709551616bps"},
        {RATE, "18446745Tbps"},
        {RATE, "340282366920938463463374607431768211457bps"}, // 2^128 + 1

        {RATE, "1e9bps"},
        {RATE, "99999999999999999999999999999999999999999Gbps"},
        {TIME, "0.5ps"},
        {TIME, "0.0001ns"},
        {TIME, "5"},
        {TIME, "5Us"},
        {TIME, "5m"},
        {TIME, "9223372036854775807ps"},
        {TIME, "9223373s"},
        {TIME, "-5us"},
        {TIME, "5us5"},
        {BYTES, "900kb"},
        {BYTES, "900Kb"},
        {BYTES, "900KBs"},
        {BYTES, "0.5B"},
        {BYTES, "1.5"},
        {BYTES, "1PiB"},
        {BYTES, "1000000000000001"},
        {BYTES, "1001TB"},
        {BYTES, "0x10"},
        {BYTES, "0.3KiB"},
        {BYTES, "-1"},
        {BYTES, ""},
        {COUNT, ""},
        {COUNT, "1.0"},
        {COUNT, "-1"},
        {COUNT, "1K"},
        {COUNT, "1 "},
        {COUNT, "18446744073709551616"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value;
        if (parse(cases[i].quantity, cases[i].text, &value) == 0)
            fail_msg("\"%s\" is accepted", cases[i].text);
    }
}

static void test_format_is_shortest(void **state)
{
    (void)state;
    char buf[UNIT_TEXT];
    assert_string_equal(format_rate(UINT64_C(100000000000), buf), "100Gbps");
    assert_string_equal(format_rate(400000000, buf), "400Mbps");
    assert_string_equal(format_rate(UINT64_C(2500000000), buf), "2.5Gbps");
    assert_string_equal(format_rate(123456789, buf), "123456789bps");
    assert_string_equal(format_rate(UINT64_MAX, buf), "18446744073709551615bps");
    assert_string_equal(format_time(12500000, buf), "12.5us");
    assert_string_equal(format_time(500000, buf), "500ns");
    assert_string_equal(format_time(1001, buf), "1001ps");
    assert_string_equal(format_time(PS_PER_S, buf), "1s");
    assert_string_equal(format_bytes(900000, buf), "900KB");
    assert_string_equal(format_bytes(33554432, buf), "32MiB");
    assert_string_equal(format_bytes(1500, buf), "1500B");
    assert_string_equal(format_bytes(32767, buf), "32767B");
    assert_string_equal(format_bytes(1500000, buf), "1.5MB");
    assert_string_equal(format_bytes(1050000, buf), "1050KB"); // as short as 1.05MB, but an integer
}

static void test_format_reads_back(void **state)
{
    (void)state;
    char buf[UNIT_TEXT];
    uint64_t x = 1;
    for (int i = 0; i < 20000; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t value = x >> (i % 50), read = 0;
        ps_t ps = 0;
        assert_int_equal(parse_rate(format_rate(value, buf), &read), 0);
        assert_true(read == value);
        assert_int_equal(parse_time(format_time((ps_t)(value >> 2), buf), &ps), 0);
        assert_true(ps == (ps_t)(value >> 2));
        value %= UINT64_C(1000000000000001);
        assert_int_equal(parse_bytes(format_bytes(value, buf), &read), 0);
        assert_true(read == value);
    }
}

static void test_human(void **state)
{
    (void)state;
    char buf[UNIT_TEXT];
    assert_string_equal(human_bytes(212345, buf), "212 KB");
    assert_string_equal(human_bytes(12, buf), "12 B");
    assert_string_equal(human_bytes(999600, buf), "1.00 MB");
    assert_string_equal(human_time(INT64_C(1340000000), buf), "1.34 ms");
    assert_string_equal(human_time(INT64_C(9999000), buf), "10.0 us");
    assert_string_equal(human_time(1234 * PS_PER_S, buf), "1234 s");
    assert_string_equal(human_ns(1340000, buf), "1.34 ms");
    assert_string_equal(human_ns(INT64_C(17280000000000000), buf), "200 days"); // ps_t ends at 106
    assert_string_equal(human_ns(INT64_MAX, buf), "106752 days");
    assert_string_equal(human_rate(87.2e9, buf), "87.2 Gb/s");
    assert_string_equal(human_rate(0, buf), "0 b/s");
}

static void test_byte_time_is_reduced(void **state)
{
    (void)state;
    struct byte_time bt = byte_time_of(UINT64_C(100000000000)); // 80 ps per byte
    assert_int_equal(bt.num, 80);
    assert_int_equal(bt.den, 1);
    bt = byte_time_of(UINT64_C(2400000000000)); // 10/3 ps per byte
    assert_int_equal(bt.num, 10);
    assert_int_equal(bt.den, 3);
    bt = byte_time_of(7);
    assert_true(bt.num == UINT64_C(8000000000000) && bt.den == 7);
}

static void test_byte_time_carries_the_remainder(void **state)
{
    (void)state;
    struct byte_time bt = byte_time_of(UINT64_C(2400000000000));
    uint64_t carry = 0;
    ps_t sum = 0;
    for (int i = 0; i < 3000; i++)
        sum += byte_time_with_carry(&bt, 1025, &carry);
    assert_int_equal(sum, 10250000); // 3000 * 1025 * 10/3 exactly
    assert_int_equal(carry, 0);
    assert_int_equal(byte_time_with_carry(&bt, 1, &carry), 3);
    assert_int_equal(carry, 1);
}

static void test_serialization_and_back(void **state)
{
    (void)state;
    assert_int_equal(serialization_ps(1000, UINT64_C(100000000000)), 80000);
    assert_int_equal(serialization_ps(1, UINT64_C(2400000000000)), 4); // 3.33 rounded up
    assert_int_equal(serialization_ps(0, 1), 0);
    // 1 PB at 100 Gb/s takes 80,000 s; the intermediate product exceeds 64 bits.
    assert_int_equal(serialization_ps(UINT64_C(1000000000000000), UINT64_C(100000000000)),
                     80000 * PS_PER_S);
    assert_int_equal(serialization_ps(UINT64_MAX, 1), PS_NEVER);
    assert_int_equal(bytes_in_ps(80000, UINT64_C(100000000000)), 1000);
    assert_int_equal(bytes_in_ps(79999, UINT64_C(100000000000)), 999);
    assert_true(bytes_in_ps(PS_NEVER - 1, UINT64_MAX) == UINT64_MAX);
    assert_int_equal(ns_of_ps(1499), 1);
    assert_int_equal(ns_of_ps(1500), 2);
    assert_true(ns_of_ps(PS_NEVER) == INT64_C(9223372036854776));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_exact),
        cmocka_unit_test(test_parse_rejects),
        cmocka_unit_test(test_format_is_shortest),
        cmocka_unit_test(test_format_reads_back),
        cmocka_unit_test(test_human),
        cmocka_unit_test(test_byte_time_is_reduced),
        cmocka_unit_test(test_byte_time_carries_the_remainder),
        cmocka_unit_test(test_serialization_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
