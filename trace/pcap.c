// SPDX-License-Identifier: MIT
// Capture files through libpcap.
//
// Nanosecond magic, LINKTYPE_ETHERNET, times since the start of the simulation. The filter is a BPF
// program that runs on the bytes kept, so it cannot match beyond the snaplen. Closed pipes are
// write errors (the program ignores SIGPIPE).

#include <errno.h>
#include <pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/memory.h"
#include "trace/capture_file.h"

#define NS_PER_S INT64_C(1000000000)

struct capture_file {
    /* config */
    char *name; // for messages
    bool live;  // stdout, possibly with a live reader
    bool filtered;
    struct bpf_program filter;
    /* state */
    pcap_t *pcap; // a dead handle: link type, snaplen, precision
    pcap_dumper_t *dumper;
    int error; // errno of the first failure, 0 = none
    /* counters */
    uint64_t packets;
};

static pcap_t *handle_open(uint32_t snaplen)
{
    return pcap_open_dead_with_tstamp_precision(DLT_EN10MB, (int)snaplen,
                                                PCAP_TSTAMP_PRECISION_NANO);
}

static int filter_compile(pcap_t *pcap, struct bpf_program *program, const char *filter)
{
    return pcap_compile(pcap, program, filter, 1, PCAP_NETMASK_UNKNOWN);
}

int capture_file_check_filter(const char *filter, uint32_t snaplen, const char *path,
                              struct err *err)
{
    if (!filter)
        return 0;
    pcap_t *pcap = handle_open(snaplen);
    if (!pcap)
        return err_add(err, path, "%s", strerror(ENOMEM));
    struct bpf_program program;
    int rc = filter_compile(pcap, &program, filter);
    if (rc)
        rc = err_add(err, path, "\"%s\": %s", filter, pcap_geterr(pcap));
    else
        pcap_freecode(&program);
    pcap_close(pcap);
    return rc;
}

// Stdout is duplicated, so that closing the capture does not close the program's stdout.
static FILE *stream_open(const char *path, bool live)
{
    if (!live)
        return fopen(path, "wb");
    int fd = dup(STDOUT_FILENO);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!stream && fd >= 0)
        close(fd);
    return stream;
}

// Release everything except the dumper's stream.
static void file_free(struct capture_file *f)
{
    if (f->filtered)
        pcap_freecode(&f->filter);
    if (f->pcap)
        pcap_close(f->pcap);
    free(f->name);
    free(f);
}

static int file_open(struct capture_file *f, const char *path, const char *name, const char *filter,
                     uint32_t snaplen, struct err *err)
{
    f->live = strcmp(path, "-") == 0;
    f->name = memory_text(f->live ? "stdout" : name);
    f->pcap = handle_open(snaplen);
    if (!f->pcap)
        return err_add(err, f->name, "%s", strerror(ENOMEM));
    if (filter) {
        if (filter_compile(f->pcap, &f->filter, filter))
            return err_add(err, f->name, "filter \"%s\": %s", filter, pcap_geterr(f->pcap));
        f->filtered = true;
    }
    FILE *stream = stream_open(path, f->live);
    if (!stream)
        return err_add(err, f->name, "%s", strerror(errno));
    f->dumper = pcap_dump_fopen(f->pcap, stream);
    if (!f->dumper) {
        fclose(stream);
        return err_add(err, f->name, "%s", pcap_geterr(f->pcap));
    }
    capture_file_show(f);
    return 0;
}

struct capture_file *capture_file_open(const char *path, const char *name, const char *filter,
                                       uint32_t snaplen, struct err *err)
{
    struct capture_file *f = memory_zeroed(1, sizeof *f);
    if (file_open(f, path, name, filter, snaplen, err)) {
        file_free(f);
        return NULL;
    }
    return f;
}

// Keep the first failure, even if libpcap has lost its errno.
static void keep_error(struct capture_file *f, int error)
{
    if (!f->error)
        f->error = error ? error : EIO;
}

int capture_file_error(const struct capture_file *f) { return f->live ? 0 : f->error; }

void capture_file_put(struct capture_file *f, int64_t ns, const uint8_t *bytes, size_t kept,
                      size_t len)
{
    struct pcap_pkthdr header = {
        .ts = {.tv_sec = ns / NS_PER_S, .tv_usec = ns % NS_PER_S},
        .caplen = (bpf_u_int32)kept,
        .len = (bpf_u_int32)len,
    };
    if (f->error || (f->filtered && !pcap_offline_filter(&f->filter, &header, bytes)))
        return;
    errno = 0;
    pcap_dump((u_char *)f->dumper, &header, bytes);
    if (ferror(pcap_dump_file(f->dumper)))
        keep_error(f, errno);
    else
        f->packets++;
}

static void stream_flush(struct capture_file *f)
{
    if (!f->error && fflush(pcap_dump_file(f->dumper)))
        keep_error(f, errno);
}

void capture_file_show(struct capture_file *f)
{
    if (f->live)
        stream_flush(f);
}

// libpcap hides the result of the final close, by which a network file system may report a full
// disk. Closing a duplicate of the descriptor first reports the same error.
static void stream_close(struct capture_file *f)
{
    stream_flush(f);
    int fd = dup(fileno(pcap_dump_file(f->dumper)));
    if (fd < 0 || close(fd))
        keep_error(f, errno);
    pcap_dump_close(f->dumper);
}

int capture_file_close(struct capture_file *f, uint64_t *packets, struct err *err)
{
    stream_close(f);
    if (packets)
        *packets = f->packets;
    int rc = f->error ? err_add(err, f->name, "%s", strerror(f->error)) : 0;
    file_free(f);
    return rc;
}
