// SPDX-License-Identifier: MIT
// The table of queue pairs beside the captures: the flow of each QPN, port and address.
//
// dst_udp_port is the source port of the flow's ACKs and CNPs. The UDP destination port is always
// 4791. `name` is the flow's name in comments of captures and in collwire.flow: the source rank and
//         the
// number among the flows that it has opened. `filter` is a display filter of Wireshark for both
// directions, which needs no plugin. No value has a comma or a quotation mark, so none is quoted
// (RFC 4180).

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "net/capture/capture.h"
#include "net/wire/address.h"
#include "net/wire/frame.h"

#define IP_TEXT sizeof "255.255.255.255"

static const char *ip_text(uint32_t ip, char *buf)
{
    snprintf(buf, IP_TEXT, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
    return buf;
}

// One direction of a flow as a display filter.
static void direction_write(FILE *file, const struct flow_id *id, bool forward)
{
    char from[IP_TEXT], to[IP_TEXT], terms[FRAME_TERMS_MAX];
    fprintf(file, "(ip.src == %s && ip.dst == %s",
            ip_text(rank_ip(forward ? id->src : id->dst), from),
            ip_text(rank_ip(forward ? id->dst : id->src), to));
    if (id->frames && id->frames->filter_terms) {
        id->frames->filter_terms(id, forward, terms);
        fprintf(file, " && %s", terms);
    }
    putc(')', file);
}

static void row_write(FILE *file, uint32_t row, const struct flow_id *id)
{
    char src[IP_TEXT], dst[IP_TEXT];
    fprintf(file, "%" PRIu32 ",%u,%u,%" PRIu32 ",%" PRIu32 ",%s,%s,%" PRIu32 ",%" PRIu32 ",%u,%u,",
            row, id->job, id->dim, id->src, id->dst, ip_text(rank_ip(id->src), src),
            ip_text(rank_ip(id->dst), dst), id->src_conn, id->dst_conn, id->src_port, id->dst_port);
    fprintf(file, "%" PRIu32 ".%" PRIu32 ",", id->src, id->number);
    direction_write(file, id, true);
    fputs(" || ", file);
    direction_write(file, id, false);
    putc('\n', file);
}

int capture_write_qpmap(const char *path, const struct flow_ids *flows, const uint32_t *order,
                        struct err *err)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return err_add(err, path, "%s", strerror(errno));
    fputs("flow,job,dim,src,dst,src_ip,dst_ip,src_qpn,dst_qpn,src_udp_port,dst_udp_port,name,"
          "filter\n",
          file);
    errno = 0;
    for (uint32_t i = 0; i < flows->n && !ferror(file); i++)
        row_write(file, i, &flows->ids[order[i]]);
    int error = ferror(file) || fflush(file) ? errno : 0;
    if (fclose(file) && !error)
        error = errno;
    return error ? err_add(err, path, "%s", strerror(error)) : 0;
}
