// SPDX-License-Identifier: MIT
// Why packets and messages of a capture do not become flows. One line of a list is one reason: its
// constant, and its words behind a number ("12 packets: ...").
#pragma once

#include <stdint.h>

#define SKIP_LIST(X)                                                                               \
    X(ROCE_ACK, "acknowledgments of RoCE")                                                         \
    X(TCP_EMPTY, "TCP segments without payload")                                                   \
    X(CNP, "congestion notifications (CNPs)")                                                      \
    X(SEEN, "retransmissions, or the same packet at another interface")                            \
    X(DROPPED, "drops, on interfaces of drops")                                                    \
    X(MAC_CONTROL, "PFC frames and other MAC control")                                             \
    X(ATOMIC, "atomic operations of RoCE")                                                         \
    X(DATAGRAM, "datagrams of RoCE (UD)")                                                          \
    X(OPCODE, "other operations of RoCE")                                                          \
    X(ROCE_V1, "RoCE version 1, without IP")                                                       \
    X(NOT_IP, "other protocols than IP")                                                           \
    X(OTHER_IP, "other IP protocols than TCP and RoCEv2")                                          \
    X(TUNNEL, "tunnels (VXLAN, Geneve, GRE, IP in IP)")                                            \
    X(MACSEC, "encrypted by MACsec")                                                               \
    X(IPSEC, "encrypted or authenticated by IPsec")                                                \
    X(PSP, "encrypted by PSP")                                                                     \
    X(FRAGMENT, "IP fragments")                                                                    \
    X(CUT, "cut before the end of their headers")                                                  \
    X(MALFORMED, "malformed headers")                                                              \
    X(LINK, "link types that are not read")                                                        \
    X(UNTIMED, "without a time")                                                                   \
    X(CONNECTIONS, "connections beyond the limit of 1048576")

#define SKIP_CONSTANT(constant, words) SKIP_##constant,
enum skip { SKIP_LIST(SKIP_CONSTANT) SKIP_REASONS, SKIP_NONE = SKIP_REASONS };
#undef SKIP_CONSTANT

#define LEFT_LIST(X)                                                                               \
    X(BEGIN, "the beginning is not in the capture")                                                \
    X(END, "the end is not in the capture, and the size is unknown")                               \
    X(EMPTY, "no payload")                                                                         \
    X(UNMAPPED, "between addresses that are not in the map")                                       \
    X(SAME_RANK, "within one rank")                                                                \
    X(LATE, "more than 100000 s after the first packet")                                           \
    X(ROWS, "beyond the limit of 16777216 messages")

#define LEFT_CONSTANT(constant, words) LEFT_##constant,
enum left { LEFT_LIST(LEFT_CONSTANT) LEFT_REASONS };
#undef LEFT_CONSTANT
