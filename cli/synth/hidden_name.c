// SPDX-License-Identifier: MIT
#include "cli/synth/hidden_name.h"

#include <nettle/sha2.h>
#include <string.h>

#include "engine/base/text.h"

#define BYTES 6

void hidden_name(uint64_t seed, const char *name, char hidden[HIDDEN_NAME])
{
    struct sha256_ctx sha;
    uint8_t key[8], digest[SHA256_DIGEST_SIZE];
    for (unsigned i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(seed >> 8 * i);
    sha256_init(&sha);
    sha256_update(&sha, sizeof key, key);
    sha256_update(&sha, strlen(name), (const uint8_t *)name);
    sha256_digest(&sha, sizeof digest, digest);
    hidden[0] = 'n';
    text_hex(digest, BYTES, hidden + 1);
}
