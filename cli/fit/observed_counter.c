// SPDX-License-Identifier: MIT
// Names: ethtool and rdma of mlx5, bnxt_re and irdma (Linux, drivers/infiniband/hw/*/), saiport.h
// and saiqueue.h of OCP's SAI, RFC 2863, and InfiniBand's port counters.
#include "cli/fit/observed_counter.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>

static const struct counter counters[] = {
    {"np_cnp_sent", "cnps", true},
    {"rp_cnp_handled", "cnps", false},
    {"tx_cnp_pkts", "cnps", true},
    {"rx_cnp_pkts", "cnps", false},
    {"cnpsent", "cnps", true},
    {"cnphandled", "cnps", false},
    {"np_ecn_marked_roce_packets", "marks", false},
    {"rx_ecn_marked_pkts", "marks", false},
    {"rxecnmrkd", "marks", false},
    {"ecn_marked_packets", "marks", false},
    {"ecn_marked", "marks", false},
    {"sai_port_stat_ecn_marked_packets", "marks", false},
    {"sai_queue_stat_wred_ecn_marked_packets", "marks", false},
    {"rx_prio[0-7]_pause", "pauses", false},
    {"tx_prio[0-7]_pause", "pauses", true},
    {"rx_pause_ctrl_phy", "pauses", false},
    {"tx_pause_ctrl_phy", "pauses", true},
    {"rx_pfc_ena_frames_pri[0-7]", "pauses", false},
    {"tx_pfc_ena_frames_pri[0-7]", "pauses", true},
    {"pfc_rx", "pauses", false},
    {"pfc_tx", "pauses", true},
    {"pfc[0-7]_rx", "pauses", false},
    {"pfc[0-7]_tx", "pauses", true},
    {"sai_port_stat_pfc_[0-7]_rx_pkts", "pauses", false},
    {"sai_port_stat_pfc_[0-7]_tx_pkts", "pauses", true},
    {"ifoutdiscards", "drops", false},
    {"out_discards", "drops", false},
    {"outdiscards", "drops", false},
    {"tx_drp", "drops", false},
    {"sai_port_stat_if_out_discards", "drops", false},
    {"sai_queue_stat_dropped_packets", "drops", false},
    {"rx_discards_phy", "nic_drops", true},
    {"rx_out_of_buffer", "nic_drops", true},
    {"out_of_buffer", "nic_drops", true},
    {"tx_bytes_phy", "bytes", false},
    {"rx_bytes_phy", "bytes", true},
    {"sai_port_stat_if_out_octets", "bytes", false},
    {"sai_port_stat_if_in_octets", "bytes", true},
    {"ifhcoutoctets", "bytes", false},
    {"ifhcinoctets", "bytes", true},
    {"tx_packets_phy", "packets", false},
    {"rx_packets_phy", "packets", true},
    {"sai_port_stat_if_out_ucast_pkts", "packets", false},
    {"sai_port_stat_if_in_ucast_pkts", "packets", true},
    {"ifhcoutucastpkts", "packets", false},
    {"ifhcinucastpkts", "packets", true},
    {"packet_seq_err", "naks", false},
    {"seq_err_naks_rcvd", "naks", false},
    {"local_ack_timeout_err", "timeouts", false},
    {"to_retransmits", "timeouts", false},
    {"out_of_sequence", "retransmitted", true},
    {"oos_drop_count", "retransmitted", true},
    {"retranssegs", "retransmitted", false},
    {"tcpretranssegs", "retransmitted", false},
};

const struct counter *counter_of(const char *name)
{
    char lower[64];
    int n = 0;
    for (; n < (int)sizeof lower - 1 && name[n]; n++)
        lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = '\0';
    for (size_t i = 0; i < sizeof counters / sizeof *counters && name[n] == '\0'; i++)
        if (fnmatch(counters[i].name, lower, 0) == 0)
            return &counters[i];
    return NULL;
}
