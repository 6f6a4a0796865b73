// SPDX-License-Identifier: MIT
// The table of queue pairs beside the captures: the flow of each QPN, port and address.
//
// dst_udp_port is the source port of the flow's ACKs and CNPs. The UDP destination port is always
// 4791.

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/capture.h"
#include "wire/address.h"

#define IP_TEXT sizeof "255.255.255.255"

static const char *ip_text(uint32_t ip, char *buf)
{
    snprintf(buf, IP_TEXT, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
    return buf;
}

static void row_write(FILE *file, uint32_t number, const struct flow_id *id)
{
    char src[IP_TEXT], dst[IP_TEXT];
    fprintf(file, "%" PRIu32 ",%u,%u,%" PRIu32 ",%" PRIu32 ",%s,%s,%" PRIu32 ",%" PRIu32 ",%u,%u\n",
            number, id->job, id->dim, id->src, id->dst, ip_text(rank_ip(id->src), src),
            ip_text(rank_ip(id->dst), dst), id->src_conn, id->dst_conn, id->src_port, id->dst_port);
}

int capture_write_qpmap(const char *path, const struct flow_ids *flows, const uint32_t *order,
                        struct err *err)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return err_add(err, path, "%s", strerror(errno));
    fputs("flow,job,dim,src,dst,src_ip,dst_ip,src_qpn,dst_qpn,src_udp_port,dst_udp_port\n", file);
    errno = 0;
    for (uint32_t i = 0; i < flows->n && !ferror(file); i++)
        row_write(file, i, &flows->ids[order[i]]);
    int error = ferror(file) || fflush(file) ? errno : 0;
    if (fclose(file) && !error)
        error = errno;
    return error ? err_add(err, path, "%s", strerror(error)) : 0;
}
