// SPDX-License-Identifier: MIT
#include "workload/training/embedding_tiers.h"

#include <math.h>

#define EXACT_TERMS 10000 // a harmonic sum: so many terms one by one, and an integral for the rest

// The sum of i^-skew for i from 1 to n, which need not be whole.
static double harmonic(double n, double skew)
{
    double sum = 0, exact = fmin(floor(n), EXACT_TERMS);
    for (double i = 1; i <= exact; i++)
        sum += pow(i, -skew);
    if (n < EXACT_TERMS)
        return sum + (n - exact) * pow(exact + 1, -skew);
    double from = exact + 0.5, to = n + 0.5;
    return sum +
           (skew == 1 ? log(to / from) : (pow(to, 1 - skew) - pow(from, 1 - skew)) / (1 - skew));
}

double zipf_share(double hot, double rows, double skew)
{
    if (hot >= rows)
        return 1;
    return hot > 0 ? harmonic(hot, skew) / harmonic(rows, skew) : 0;
}

struct tier_shares embedding_tier_shares(const struct embedding_tiers *t, double table_bytes,
                                         double rows)
{
    if (t->hbm == PARAM_AUTO || table_bytes <= (double)t->hbm)
        return (struct tier_shares){0, 0};
    double near = (double)t->hbm, host = near + (double)t->ddr / (double)t->ranks_per_host,
           in_hbm = zipf_share(rows * near / table_bytes, rows, t->skew),
           in_host =
               t->ddr == PARAM_AUTO ? 1 : zipf_share(rows * host / table_bytes, rows, t->skew);
    return (struct tier_shares){in_host - in_hbm, 1 - in_host};
}

double embedding_fetch_ns(const struct embedding_tiers *t, const struct tier_shares *shares,
                          double row_bytes)
{
    double ranks = (double)t->ranks_per_host, link = row_bytes / t->link_gbs,
           page = fmax(row_bytes, (double)t->page);
    return shares->ddr * fmax(link, row_bytes * ranks / t->ddr_gbs) +
           shares->ssd * fmax(link, page * ranks / t->ssd_gbs);
}
