// SPDX-License-Identifier: MIT
// The file is read piece by piece with expat, into lists in the order of the file; then the parts
// are sorted by their ids. Memory is bounded by the size of the file; a document type, which could
// define entities that expand, is refused.
#include "collective/nccl/xml/xml_file.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/xml/xml_parts.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/text/json_file.h"

#define FILE_BYTES_MAX (UINT64_C(256) << 20)
#define PIECE 65536
// Expat looks at a token from its begin again whenever it gets another piece of it.
#define TOKEN_BYTES_MAX (UINT64_C(1) << 20)

struct reading {
    XML_Parser parser;
    const char *name, *path;
    struct err *err;
    struct xml_parts parts;
    unsigned depth;   // elements that are open
    uint64_t reached; // byte of the file behind the last token
    bool failed;
};

__attribute__((format(printf, 3, 4))) static void fail(struct reading *r, unsigned long line,
                                                       const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    // Only the first error counts: a parser that has been stopped for it reports another one.
    if (!r->failed)
        err_add(r->err, r->path, "%s, line %lu: %s", r->name, line, what);
    r->failed = true;
}

// The line that the parser has reached. Expat 2.9 has a function of another name for it, and
// deprecates the old one.
static unsigned long line_of(const struct reading *r)
{
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
    return (unsigned long)XML_GetCurrentLineNumber64(r->parser);
#else
    return (unsigned long)XML_GetCurrentLineNumber(r->parser);
#endif
}

// Any other token: texts, comments, instructions.
static void on_token(void *ctx, const XML_Char *text, int n)
{
    struct reading *r = ctx;
    (void)text;
    (void)n;
    r->reached =
        (uint64_t)XML_GetCurrentByteIndex(r->parser) + (uint64_t)XML_GetCurrentByteCount(r->parser);
}

static void on_start(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
    static const char *const names[] = {"algo", "gpu", "tb", "step"};
    enum { LEVELS = sizeof names / sizeof *names };
    struct reading *r = ctx;
    char error[XML_PART_ERROR] = "";
    on_token(r, NULL, 0);
    unsigned long line = line_of(r);
    if (r->failed)
        return;
    unsigned depth = r->depth++;
    if (depth >= LEVELS || strcmp(name, names[depth]) != 0)
        snprintf(error, sizeof error, "<%.40s> is not known here%s%s%s", name,
                 depth < LEVELS ? ": <" : "", depth < LEVELS ? names[depth] : "",
                 depth < LEVELS ? "> is expected" : "");
    else
        xml_parts_add(&r->parts, depth, attributes, (uint32_t)line, error);
    if (error[0] == '\0')
        return;
    fail(r, line, "%s", error);
    XML_StopParser(r->parser, XML_FALSE);
}

static void on_end(void *ctx, const XML_Char *name)
{
    (void)name;
    ((struct reading *)ctx)->depth--;
    on_token(ctx, NULL, 0);
}

static void on_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                       const XML_Char *public, int internal)
{
    struct reading *r = ctx;
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    fail(r, line_of(r), "an algorithm has no document type");
    XML_StopParser(r->parser, XML_FALSE);
}

static void read_pieces(struct reading *r, FILE *in)
{
    uint64_t bytes = 0;
    bool last = false;
    char *piece = memory_bytes(PIECE);
    while (!last && !r->failed) {
        size_t n = fread(piece, 1, PIECE, in);
        // A short read is the end of the file, or an error, which the check below reports.
        last = n < PIECE;
        bytes += n;
        // A token that does not end is refused early: expat would scan it again from its begin with
        // each piece, in a time that grows with the square of its length.
        if (bytes > FILE_BYTES_MAX)
            fail(r, line_of(r), "the file is larger than 256 MiB");
        else if (ferror(in))
            fail(r, line_of(r), "cannot be read");
        else if (XML_Parse(r->parser, piece, (int)n, last) == XML_STATUS_ERROR)
            fail(r, line_of(r), "is not XML: %s", XML_ErrorString(XML_GetErrorCode(r->parser)));
        else if (bytes - r->reached > TOKEN_BYTES_MAX)
            fail(r, line_of(r), "a tag or comment from byte %llu on is longer than 1 MiB",
                 (unsigned long long)r->reached);
    }
    free(piece);
}

static struct xml_algorithm *finish(struct reading *r)
{
    struct xml_error error = {0};
    if (r->failed)
        return NULL;
    struct xml_algorithm *a = xml_parts_sorted(&r->parts, &error);
    if (a != NULL && xml_algorithm_link(a, &error))
        return a;
    fail(r, error.line, "%s", error.text);
    free(a);
    return NULL;
}

struct xml_algorithm *xml_file_read(const char *dir, const char *name, const char *path,
                                    struct err *err)
{
    char *full = path_from(dir, name);
    const char *why;
    FILE *in = regular_file_stream(full, &why);
    free(full);
    if (in == NULL) {
        err_add(err, path, "%s cannot be opened: %s", name, why);
        return NULL;
    }
    struct reading r = {.name = name, .path = path, .err = err, .parser = XML_ParserCreate(NULL)};
    if (r.parser == NULL)
        memory_exhausted(1, PIECE);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    XML_SetDefaultHandler(r.parser, on_token);
    read_pieces(&r, in);
    struct xml_algorithm *a = finish(&r);
    xml_parts_free(&r.parts);
    XML_ParserFree(r.parser);
    fclose(in);
    return a;
}
