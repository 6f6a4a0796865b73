// SPDX-License-Identifier: MIT
// Algorithms of collectives as XML files of MSCCL:
//
//   <algo name="ring" nchunksperloop="4" nchannels="1" proto="Simple" ngpus="4" coll="allreduce">
//     <gpu id="0" i_chunks="4" o_chunks="4" s_chunks="0">
//       <tb id="0" send="1" recv="3" chan="0">
//         <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1"
//               deps="-1" hasdep="0"/>
//
// Types of steps: s, r, rcs, rrs, rrc, rrcs, cpy, re, nop. `depid` and `deps`: the step waits for
// step `deps` of thread block `depid` of the GPU. Left out: `hasdep`, since every step that another
// one waits for is awaited, `redop`, `inplace`, and the sizes for which MSCCL would take the file.
#pragma once

#include "collective/nccl/xml/algorithm.h"
#include "engine/base/err.h"

// Read a file, named as seen from folder `dir`, and check that all of its steps will end. Returns
// NULL with one error at `path` that names the file and the line. free() it.
struct xml_algorithm *xml_file_read(const char *dir, const char *name, const char *path,
                                    struct err *err);
