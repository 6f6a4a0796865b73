// SPDX-License-Identifier: MIT
// Words: c10d's names of collectives (record_param_comms), NCCL's names of functions, and c10's
// names of scalar types.
#include "cli/import/words.h"

#include <ctype.h>
#include <string.h>

#define WORD_MOST 40

bool call_word_read(const char *word, struct call *call)
{
    static const struct {
        const char *begin; // small letters, without underscores
        enum call_kind kind;
        enum coll_op op;
    } words[] = {{"allreduce", CALL_COLLECTIVE, COLL_ALL_REDUCE},
                 {"reducescatter", CALL_COLLECTIVE, COLL_REDUCE_SCATTER},
                 {"allgather", CALL_COLLECTIVE, COLL_ALL_GATHER},
                 {"alltoall", CALL_COLLECTIVE, COLL_ALL_TO_ALL},
                 {"all2all", CALL_COLLECTIVE, COLL_ALL_TO_ALL},
                 {"broadcast", CALL_COLLECTIVE, COLL_BROADCAST},
                 {"reduce", CALL_COLLECTIVE, COLL_REDUCE},
                 {"gather", CALL_COLLECTIVE, COLL_GATHER},
                 {"scatter", CALL_COLLECTIVE, COLL_SCATTER},
                 {"barrier", CALL_COLLECTIVE, COLL_BARRIER},
                 {"sendrecv", CALL_COLLECTIVE, COLL_OPS},
                 {"send", CALL_SEND, COLL_OPS},
                 {"recv", CALL_RECV, COLL_OPS}};
    char plain[WORD_MOST];
    size_t n = 0;
    for (; *word != '\0' && n + 1 < sizeof plain; word++)
        if (*word != '_')
            plain[n++] = (char)tolower((unsigned char)*word);
    plain[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strncmp(plain, words[i].begin, strlen(words[i].begin)) != 0)
            continue;
        call->kind = words[i].kind;
        call->op = words[i].op;
        return call->kind != CALL_COLLECTIVE || call->op != COLL_OPS;
    }
    return false;
}

uint64_t torch_type_bytes(const char *type)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {{"Byte", 1},
                 {"Char", 1},
                 {"Bool", 1},
                 {"Short", 2},
                 {"Int", 4},
                 {"Long", 8},
                 {"Half", 2},
                 {"Float", 4},
                 {"Double", 8},
                 {"BFloat16", 2},
                 {"ComplexHalf", 4},
                 {"ComplexFloat", 8},
                 {"UInt16", 2},
                 {"UInt32", 4},
                 {"UInt64", 8},
                 {"ComplexDouble", 16},
                 {"Float8_e5m2", 1},
                 {"Float8_e4m3fn", 1},
                 {"Float8_e5m2fnuz", 1},
                 {"Float8_e4m3fnuz", 1},
                 {"Float8_e8m0fnu", 1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].name) == 0)
            return types[i].bytes;
    return 0;
}

uint64_t cpp_type_bytes(const char *type)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {{"float", 4},         {"double", 8},         {"int", 4},
                 {"unsigned int", 4},  {"long", 8},           {"long int", 8},
                 {"unsigned long", 8}, {"short", 2},          {"short int", 2},
                 {"signed char", 1},   {"unsigned char", 1},  {"char", 1},
                 {"bool", 1},          {"complex<float>", 8}, {"complex<double>", 16}};
    if (strncmp(type, "c10::", 5) == 0)
        type += 5;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].name) == 0)
            return types[i].bytes;
    return torch_type_bytes(type);
}

enum coll_op nccl_kernel_op(const char *name)
{
    static const char *const begins[] = {"ncclDevKernel_", "ncclKernel_", "nccl"};
    struct call call = {.op = COLL_OPS};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return call_word_read(name + strlen(begins[i]), &call) && call.kind == CALL_COLLECTIVE
                       ? call.op
                       : COLL_OPS;
    return COLL_OPS;
}

bool is_nccl_kernel(const char *name)
{
    return strncmp(name, "nccl", 4) == 0 || strncmp(name, "rccl", 4) == 0 ||
           strncmp(name, "mscclKernel", 11) == 0;
}
