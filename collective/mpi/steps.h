// SPDX-License-Identifier: MIT
// The functions of each algorithm: number of steps, and one step.
#pragma once

#include "collective/mpi/mpi.h"

uint32_t mpi_ring_phases(const struct mpi_shape *s); // of a ring, plain or segmented
uint32_t mpi_ring_steps(const struct mpi_shape *s);
uint32_t mpi_ring_receives(const struct mpi_shape *s);
struct mpi_step mpi_ring_step(const struct mpi_shape *s, uint32_t rank, uint32_t i);
uint32_t mpi_doubling_steps(const struct mpi_shape *s);
struct mpi_step mpi_doubling_step(const struct mpi_shape *s, uint32_t rank, uint32_t i);
uint32_t mpi_rabenseifner_steps(const struct mpi_shape *s);
struct mpi_step mpi_rabenseifner_step(const struct mpi_shape *s, uint32_t rank, uint32_t i);
uint32_t mpi_linear_steps(const struct mpi_shape *s);
struct mpi_step mpi_linear_step(const struct mpi_shape *s, uint32_t rank, uint32_t i);
uint32_t mpi_pairwise_steps(const struct mpi_shape *s);
struct mpi_step mpi_pairwise_step(const struct mpi_shape *s, uint32_t rank, uint32_t i);
uint32_t mpi_binomial_steps(const struct mpi_shape *s);
struct mpi_step mpi_binomial_step(const struct mpi_shape *s, uint32_t rank, uint32_t i);
