// SPDX-License-Identifier: MIT
// The text of triggers: (start|stop) at (drop | retransmission | pause > TIME | queue > BYTES).
#include "net/capture/trigger.h"

#include <string.h>

static const char *const events[] = {[TRIGGER_DROP] = "drop",
                                     [TRIGGER_RETRANSMISSION] = "retransmission",
                                     [TRIGGER_PAUSE] = "pause",
                                     [TRIGGER_QUEUE] = "queue"};
#define N_EVENTS (sizeof events / sizeof *events)
#define WORD 32

// Copy the next word of *text, without the spaces around it. Returns false if there is none, or if
// it is too long.
static bool next_word(const char **text, char word[WORD])
{
    const char *from = *text + strspn(*text, " ");
    size_t n = strcspn(from, " ");
    if (n == 0 || n >= WORD)
        return false;
    memcpy(word, from, n);
    word[n] = '\0';
    *text = from + n;
    return true;
}

static bool read_limit(const char **text, struct trigger *t)
{
    char sign[WORD], value[WORD];
    if (!next_word(text, sign) || strcmp(sign, ">") != 0 || !next_word(text, value))
        return false;
    return t->event == TRIGGER_PAUSE ? parse_time(value, &t->longer_ps) == 0
                                     : parse_bytes(value, &t->above_bytes) == 0;
}

static bool read_event(const char **text, struct trigger *t)
{
    char word[WORD];
    if (!next_word(text, word))
        return false;
    for (unsigned i = TRIGGER_DROP; i < N_EVENTS; i++)
        if (strcmp(word, events[i]) == 0)
            t->event = (enum trigger_event)i;
    if (t->event == TRIGGER_PAUSE || t->event == TRIGGER_QUEUE)
        return read_limit(text, t);
    return t->event != TRIGGER_NEVER;
}

static bool read_all(const char *text, struct trigger *t)
{
    char word[WORD];
    if (!next_word(&text, word) || (strcmp(word, "start") != 0 && strcmp(word, "stop") != 0))
        return false;
    t->stops = strcmp(word, "stop") == 0;
    return next_word(&text, word) && strcmp(word, "at") == 0 && read_event(&text, t) &&
           !next_word(&text, word);
}

int trigger_parse(const char *text, const char *path, struct trigger *trigger, struct err *err)
{
    *trigger = (struct trigger){.event = TRIGGER_NEVER};
    if (!text || !*text || read_all(text, trigger))
        return 0;
    trigger->event = TRIGGER_NEVER;
    return err_add(err, path,
                   "\"%s\" is no trigger; write \"start at\" or \"stop at\", then \"drop\", "
                   "\"retransmission\", \"pause > 20us\" or \"queue > 100KB\"",
                   text);
}
