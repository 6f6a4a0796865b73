// SPDX-License-Identifier: MIT
// A message's path continues that of its sender's busy period, or begins with its own post.
#include "sim/delivery/message_path.h"

#include <string.h>

// A message's path up to the start of its last packet.
static uint32_t path_of(struct path_book *book, const struct sender_account *a, ps_t now)
{
    ps_t parts[PATH_CAUSES] = {0};
    uint32_t id = path_own(book, path_hold(book, a->path));
    struct path *path = path_at(book, id);
    sender_account_split(a, &(struct sender_totals){0}, a->now.at_ps, parts, now);
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        path_add(book, path, (enum path_cause)cause, parts[cause], PLACE_FLOW, a->flow);
    path->end_ps = now;
    path->flow = a->flow;
    path->transit_ps = a->transit_ps;
    return id;
}

// Split the time that a message has taken by cause, from its post or, if that is later, from the
// end of the transmission of the message before it.
static void split_life(const struct sender_account *a, struct path *path, ps_t posted, ps_t now)
{
    ps_t mark_ps = a->marked ? a->mark.at_ps : a->now.at_ps;
    ps_t since = posted > mark_ps ? posted : mark_ps < now ? mark_ps : now;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        path->life[cause] = 0;
    sender_account_split(a, &a->mark, since, path->life, now); // all 0 unless marked
    path->life[PATH_BEHIND] = since - posted;
}

// Path of a message that waited behind messages of another collective: it begins with its post, so
// that it is part of its own collective.
static uint32_t path_from_post(struct path_book *book, uint32_t posted, uint32_t path)
{
    uint32_t id = path_own(book, posted);
    const struct path *by_sender = path_at(book, path);
    struct path *p = path_at(book, id);
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        path_add(book, p, (enum path_cause)cause, by_sender->life[cause], PLACE_FLOW,
                 by_sender->flow);
    memcpy(p->life, by_sender->life, sizeof p->life);
    p->end_ps = by_sender->end_ps;
    p->transit_ps = by_sender->transit_ps;
    p->flow = by_sender->flow;
    path_drop(book, path);
    return id;
}

uint32_t message_path(struct path_book *book, const struct sender_account *account, uint32_t posted,
                      ps_t posted_ps, ps_t now)
{
    uint32_t path = path_of(book, account, now);
    split_life(account, path_at(book, path), posted_ps, now);
    // The time before the post belongs to the collective of the messages before it.
    if (path_at(book, path)->owner != path_at(book, posted)->owner)
        return path_from_post(book, posted, path);
    // the time of messages before it belongs to their stage
    path_stage(book, path, path_at(book, posted)->stage, path_at(book, path)->life);
    path_drop(book, posted);
    return path;
}
