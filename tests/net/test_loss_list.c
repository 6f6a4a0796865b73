// SPDX-License-Identifier: MIT
// Listed losses of a link, packet by packet.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/loss_list.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

struct step {
    enum packet_kind kind;
    uint32_t flow, seq, payload;
    bool retx, lost;
    ps_t at_ps;
};

static void play(const struct loss_rule *rules, size_t n_rules, const struct step *steps, size_t n)
{
    struct loss_list list = {0};
    for (size_t r = 0; r < n_rules; r++)
        loss_list_add(&list, &rules[r]);
    for (size_t i = 0; i < n; i++) {
        const struct step *s = &steps[i];
        struct packet p = {.kind = s->kind & 0xf,
                           .flow = s->flow,
                           .flags = s->retx ? PACKET_RETX : 0,
                           .arrives_ps = s->at_ps};
        struct packet_meta meta = {.seq = s->seq, .payload_bytes = (uint16_t)s->payload};
        if (loss_list_hits(&list, &p, &meta) != s->lost)
            fail_msg("step %zu: %s", i, s->lost ? "passed" : "was lost");
    }
    loss_list_free(&list);
}

static const uint64_t listed[] = {2, 3, 5};

// Retransmissions, ACKs and packets without payload neither count nor are lost. Packets of all
// flows count together.
static void test_first_transmissions(void **state)
{
    (void)state;
    static const struct loss_rule rule = {.packets = listed, .n_packets = 3, .times = 1};
    static const struct step steps[] = {
        {PACKET_DATA, 1, 0, 100, false, false, 0}, // 1
        {PACKET_ACK, 1, 0, 100, false, false, 0},  {PACKET_DATA, 1, 0, 0, false, false, 0},
        {PACKET_DATA, 2, 0, 1, false, true, 0},    // 2
        {PACKET_DATA, 2, 0, 1, true, false, 0},    // again
        {PACKET_DATA, 1, 1, 100, false, true, 0},  // 3
        {PACKET_DATA, 1, 2, 100, false, false, 0}, // 4
        {PACKET_PFC, 0, 0, 0, false, false, 0},    {PACKET_CNP, 1, 2, 100, false, false, 0},
        {PACKET_DATA, 1, 3, 100, false, true, 0},  // 5
        {PACKET_DATA, 1, 4, 100, false, false, 0}, // 6
    };
    play(&rule, 1, steps, LENGTH(steps));
}

// The next transmissions of a chosen packet, which its flow and sequence number identify.
static void test_times(void **state)
{
    (void)state;
    static const struct loss_rule rule = {.packets = listed, .n_packets = 2, .times = 3};
    static const struct step steps[] = {
        {PACKET_DATA, 1, 0, 9, false, false, 0}, {PACKET_DATA, 1, 1, 9, false, true, 0},
        {PACKET_DATA, 2, 1, 9, false, true, 0},  {PACKET_DATA, 2, 2, 9, false, false, 0},
        {PACKET_DATA, 1, 1, 9, true, true, 0},   {PACKET_DATA, 1, 0, 9, true, false, 0},
        {PACKET_DATA, 3, 1, 9, true, false, 0},  {PACKET_DATA, 1, 1, 9, true, true, 0},
        {PACKET_DATA, 1, 1, 9, true, false, 0},  {PACKET_DATA, 2, 1, 9, true, true, 0},
        {PACKET_DATA, 2, 1, 9, true, true, 0},   {PACKET_DATA, 2, 1, 9, true, false, 0},
    };
    play(&rule, 1, steps, LENGTH(steps));
}

// Several rules have one count; of two that choose a packet the larger number of times holds.
static void test_every_and_several_rules(void **state)
{
    (void)state;
    static const uint64_t fourth[] = {4};
    static const struct loss_rule rules[] = {{.every = 2, .times = 1},
                                             {.packets = fourth, .n_packets = 1, .times = 2}};
    static const struct step steps[] = {
        {PACKET_DATA, 1, 0, 9, false, false, 0}, {PACKET_DATA, 1, 1, 9, false, true, 0},
        {PACKET_DATA, 1, 2, 9, false, false, 0}, {PACKET_DATA, 1, 3, 9, false, true, 0},
        {PACKET_DATA, 1, 1, 9, true, false, 0},  {PACKET_DATA, 1, 3, 9, true, true, 0},
        {PACKET_DATA, 1, 3, 9, true, false, 0},  {PACKET_DATA, 1, 4, 9, false, false, 0},
        {PACKET_DATA, 1, 5, 9, false, true, 0},
    };
    play(rules, 2, steps, LENGTH(steps));
}

// All that arrives in [t, t + 10) is lost, where t is the arrival of packet 2. It is counted all
// the same.
static void test_blackout(void **state)
{
    (void)state;
    static const uint64_t fourth[] = {4};
    static const struct loss_rule rules[] = {{.blackout_packet = 2, .blackout_ps = 10},
                                             {.packets = fourth, .n_packets = 1, .times = 1}};
    static const struct step steps[] = {
        {PACKET_DATA, 1, 0, 9, false, false, 100}, {PACKET_DATA, 1, 1, 9, false, true, 110},
        {PACKET_ACK, 1, 0, 0, false, true, 111},   {PACKET_DATA, 1, 2, 9, false, true, 112}, // 3
        {PACKET_PFC, 0, 0, 0, false, true, 113},   {PACKET_DATA, 1, 1, 9, true, true, 119},
        {PACKET_ACK, 1, 0, 0, false, false, 120},  {PACKET_DATA, 1, 3, 9, false, true, 121}, // 4
        {PACKET_DATA, 1, 4, 9, false, false, 122},
    };
    play(rules, 2, steps, LENGTH(steps));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_transmissions),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_every_and_several_rules),
        cmocka_unit_test(test_blackout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
