// SPDX-License-Identifier: MIT
// A server as lstopo of hwloc 2 or 3 writes it (lstopo server.xml):
//
//   <topology version="2.0">
//     <object type="Machine" ..>
//       <object type="Package" os_index="0" ..>
//         <info name="CPUVendor" value="GenuineIntel"/>
//         <object type="NUMANode" os_index="0" ../>
//         <object type="Bridge" bridge_type="0-1" bridge_pci="0000:[15-29]">
//           <object type="Bridge" bridge_type="1-1" pci_busid=".." pci_type="0604 [1000:c030] ..">
//             <object type="PCIDev" pci_busid="0000:18:00.0" pci_type="0302 [10de:2330] ..."
//                     pci_link_speed="63.015385">
//             <object type="PCIDev" pci_type="0207 [15b3:1021] .." pci_link_speed="63.015385">
//               <object type="OSDev" name="mlx5_0" osdev_type="3">
//
// CPUs are NUMA nodes of the host. GPUs are PCI devices of NVIDIA with the class of a display
// (0300, 0302), in the order of the file. NICs are PCI devices with an OpenFabrics device, or with
// a network where the server has none of these. The file does not say which GPU it is for NCCL, its
// NVLinks and its link to the CPU: another machine gives them. It does not give rates of NICs
// either: each is taken at the most that its PCIe link carries, which a warning says. A link
// without a speed, as lstopo writes it without root, counts as 16 lanes of 8 GT/s at a device, and
// does not limit at a bridge. Everything else is left out: caches, cores, distances, storage.
#pragma once

#include "collective/nccl/nccl_machine.h"
#include "engine/base/err.h"

// Whether the first element of the file is hwloc's; false also where it cannot be read.
bool hwloc_is(const char *dir, const char *name);

// Fill in `machine` but for its names, with GPUs and NVLinks as of `like`. Returns false after one
// error at `path` that names the file and the line.
bool hwloc_read(const char *dir, const char *name, const char *path,
                const struct nccl_machine *like, struct nccl_machine *machine, struct err *err);
