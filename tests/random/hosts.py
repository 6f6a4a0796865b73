# SPDX-License-Identifier: MIT
"""Hosts of random scenarios: their cores, what TCP costs them, and collectives of Open MPI."""
import random

OPERATIONS = {"all_reduce": ("auto", "ring", "segmented_ring", "recursive_doubling", "rabenseifner"),
              "all_to_all": ("auto", "linear", "pairwise"), "broadcast": ("auto", "binomial"), "barrier": ("auto",)}
DECIDED = ("algorithm", "dims", "chunks", "active_chunks", "channels", "schedule", "endpoint_delay", "reduce_rate", "order",
           "mapping")
RATES, TIMES, SIZES = ("0bps", "10Gbps", "40Gbps", "1Tbps"), ("0ns", "1ps", "100ns", "2us"), ("0B", "1KB", "64KB", "1MB")


def host(rng):
    made = {"ranks": rng.choice((1, 1, 2, 5)), "cores": rng.choice((0, 1, 2, 7)), "threads": rng.choice((0, 0, 1, 3)),
            "compute": rng.random() < 0.5, "rdma": rng.choice(("direct", "staged"))}
    if rng.random() < 0.4:
        made["preset"] = "linux"
    for way in ("send", "receive"):
        for key, values in (("rate", RATES), ("packet", TIMES), ("call", TIMES), ("segment", SIZES)):
            if rng.random() < 0.3:
                made[f"{way}_{key}"] = rng.choice(values)
    return made


def mpi(rng, job):
    """Let Open MPI run a collective."""
    for key in DECIDED:
        job.pop(key, None)
    job["library"] = {"kind": "mpi", "algo": rng.choice(OPERATIONS[job["op"]]), "segment": rng.choice(SIZES),
                      "eager_limit": rng.choice(("0B", "1KB", "65480B")), "event": rng.choice(TIMES),
                      "step": rng.choice(TIMES), "copy_rate": rng.choice(RATES), "reduce_rate": rng.choice(RATES)}


def hosts(seed, made):
    """Draws of their own, so that those of other parts stay as they are."""
    rng = random.Random(f"hosts {seed}")
    if rng.random() < 0.15:
        made["host"] = host(rng)
    jobs = made["workload"] if isinstance(made["workload"], list) else [made["workload"]]
    for job in jobs:
        if job.get("kind") == "collective" and job.get("op") in OPERATIONS and rng.random() < 0.15:
            mpi(rng, job)
