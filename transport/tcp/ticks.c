// SPDX-License-Identifier: MIT
// Delays of the kernel's timer wheel (Linux, kernel/time/timer.c, described in its opening
// comment): with timer_tick a timeout is a whole number of ticks, it ends at the first tick after
// it, and longer timeouts are rounded up to coarser steps: 8 ticks from 63 ticks on, 64 from 504
// on, and so on.
#include "transport/tcp/tcp.h"

#define WHEEL_FIRST_TICKS 63

ps_t tcp_tick_rounded(ps_t tick_ps, ps_t delay_ps, ps_t now)
{
    ps_t ticks = (delay_ps + tick_ps - 1) / tick_ps, at = now / tick_ps + ticks, step = 1;
    for (ps_t level = WHEEL_FIRST_TICKS; ticks >= level && step < TCP_MAX_RTO_PS / tick_ps;
         level *= 8)
        step *= 8;
    return (at / step + 1) * step * tick_ps - now;
}
