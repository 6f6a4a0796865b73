// SPDX-License-Identifier: MIT
// The opcodes of RoCE as a table.
#include "cli/replay/bth.h"

#include "cli/replay/bytes.h"

#define BTH_BYTES 12
#define RETH_BYTES 16
#define AETH_BYTES 4
#define IMMEDIATE_BYTES 4 // and the IETH of an invalidation
#define XRCETH_BYTES 4
#define ICRC_BYTES 4
#define OPCODE_CNP 0x81

enum service { SERVICE_RC = 0, SERVICE_UC = 1, SERVICE_UD = 3, SERVICE_XRC = 5 };
enum position { MIDDLE = 0, FIRST = 1, LAST = 2, ONLY = FIRST | LAST };

struct opcode {
    uint8_t skip; // enum skip
    uint8_t operation, position;
    uint8_t extension; // bytes between BTH and payload
};

#define ROW(operation, position, extension)                                                        \
    {                                                                                              \
        SKIP_NONE, BTH_##operation, position, extension                                            \
    }

// Opcodes by their low five bits, for reliable connections; other services use the same numbers.
static const struct opcode opcodes[] = {
    [0x00] = ROW(SEND, FIRST, 0),
    [0x01] = ROW(SEND, MIDDLE, 0),
    [0x02] = ROW(SEND, LAST, 0),
    [0x03] = ROW(SEND, LAST, IMMEDIATE_BYTES),
    [0x04] = ROW(SEND, ONLY, 0),
    [0x05] = ROW(SEND, ONLY, IMMEDIATE_BYTES),
    [0x06] = ROW(WRITE, FIRST, RETH_BYTES),
    [0x07] = ROW(WRITE, MIDDLE, 0),
    [0x08] = ROW(WRITE, LAST, 0),
    [0x09] = ROW(WRITE, LAST, IMMEDIATE_BYTES),
    [0x0a] = ROW(WRITE, ONLY, RETH_BYTES),
    [0x0b] = ROW(WRITE, ONLY, RETH_BYTES + IMMEDIATE_BYTES),
    [0x0c] = ROW(READ_REQUEST, ONLY, RETH_BYTES),
    [0x0d] = ROW(READ_RESPONSE, FIRST, AETH_BYTES),
    [0x0e] = ROW(READ_RESPONSE, MIDDLE, 0),
    [0x0f] = ROW(READ_RESPONSE, LAST, AETH_BYTES),
    [0x10] = ROW(READ_RESPONSE, ONLY, AETH_BYTES),
    [0x11] = {.skip = SKIP_ROCE_ACK},
    [0x12] = {.skip = SKIP_ATOMIC},
    [0x13] = {.skip = SKIP_ATOMIC},
    [0x14] = {.skip = SKIP_ATOMIC},
    [0x15] = {.skip = SKIP_OPCODE},
    [0x16] = ROW(SEND, LAST, IMMEDIATE_BYTES),
    [0x17] = ROW(SEND, ONLY, IMMEDIATE_BYTES),
};

static struct opcode opcode_find(uint8_t code)
{
    unsigned service = code >> 5, low = code & 0x1f;
    bool known = low < sizeof opcodes / sizeof *opcodes;
    if (code == OPCODE_CNP)
        return (struct opcode){.skip = SKIP_CNP};
    if (service == SERVICE_UD)
        return (struct opcode){.skip = SKIP_DATAGRAM};
    if (!known || (service != SERVICE_RC && service != SERVICE_XRC &&
                   !(service == SERVICE_UC && low <= 0x0b)))
        return (struct opcode){.skip = SKIP_OPCODE};
    struct opcode opcode = opcodes[low];
    if (service == SERVICE_XRC && opcode.operation != BTH_READ_RESPONSE) // requests have an XRCETH
        opcode.extension = (uint8_t)(opcode.extension + XRCETH_BYTES);
    return opcode;
}

enum skip bth_read(const struct span *body, struct bth *out)
{
    const uint8_t *at = body->at;
    if (body->kept < 1)
        return SKIP_CUT;
    struct opcode opcode = opcode_find(at[0]);
    if (opcode.skip != SKIP_NONE)
        return opcode.skip;
    if (body->kept < BTH_BYTES)
        return SKIP_CUT;
    size_t pad = at[1] >> 4 & 3, headers = (size_t)BTH_BYTES + opcode.extension;
    if (body->length < headers + pad + ICRC_BYTES)
        return SKIP_MALFORMED;
    *out = (struct bth){
        .operation = opcode.operation,
        .first = opcode.position & FIRST,
        .last = opcode.position & LAST,
        .qpn = get24(at + 5),
        .psn = get24(at + 9),
        .payload = (uint32_t)(body->length - headers - pad - ICRC_BYTES),
    };
    // An immediate value stands behind the RETH, an XRCETH before it.
    bool has_reth = opcode.extension >= RETH_BYTES;
    size_t before = at[0] >> 5 == SERVICE_XRC ? XRCETH_BYTES : 0;
    if (has_reth && body->kept >= BTH_BYTES + before + RETH_BYTES) {
        out->message_bytes = get32(at + BTH_BYTES + before + 12);
        out->sized = true;
    }
    return SKIP_NONE;
}
