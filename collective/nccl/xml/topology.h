// SPDX-License-Identifier: MIT
// A server as NCCL writes it with NCCL_TOPO_DUMP_FILE:
//
//   <system version="1">
//     <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
//       <pci busid="0000:16:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
//         <pci busid="0000:18:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
//           <gpu dev="0" sm="90" rank="0">
//             <nvlink target="0000:07:00.0" count="18" tclass="0x068000"/>
//             <c2c bw="44712" count="10"/>
//         <pci busid="0000:19:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16">
//           <nic>
//             <net name="mlx5_0" dev="0" speed="400000"/>
//
// GPUs have the order of their ranks (of `dev` where no GPU has a rank), NICs that of `dev`. Rates
// are those of NCCL's rules (src/graph/topo.cc, topo.h): the lanes and the speed of PCIe (8 GT/s
// where the file has no speed), and 10 Gbit/s of a NIC without a speed. The PCIe switch of a device
// is the lowest bridge with both a GPU and a NIC below it; other bridges are part of the way, and
// switches under switches are taken as one, with a warning where NCCL does not unite them. Left
// out: guid, gdr, maxconn, latency, affinity, rails and planes of NICs, and the elements gin, rma
// and pcilink. An error: GPUs or CPUs of several kinds, several servers in one file (MNNVL),
// several ranks on a GPU, NVLinks that join some pairs of GPUs and not others, GPUs of AMD.
#pragma once

#include "collective/nccl/nccl_machine.h"
#include "engine/base/err.h"

// Read the file, or one of hwloc (hwloc.h), named as seen from folder `dir`. `like`: the machine
// that has what hwloc does not say; NULL = none. Returns NULL with one error at `path` that names
// the file and the line. free() the machine, whose name is part of the same memory.
struct nccl_machine *nccl_topology_read(const char *dir, const char *name, const char *path,
                                        const struct nccl_machine *like, struct err *err);
