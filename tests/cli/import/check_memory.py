#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire import kineto: the memory for a large trace is bounded.

usage: check_memory.py MB LIMIT_MB, with the executable in $COLLWIRE. Writes a trace of MB megabytes as profilers do (of ten
events one ran on the GPU, with its launch), imports it, and compares the peak of resident memory with the limit.
"""
import os
import subprocess
import sys
import tempfile

HEAD = ('{\n  "schemaVersion": 1,\n  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1, '
        '"pg_config": [{"pg_name": "0", "pg_size": 1, "ranks": [0]}]},\n  "traceEvents": [\n')
NAME = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>)"


def write_events(file, size):
    i, written = 0, len(HEAD)
    file.write(HEAD)
    while written < size:
        at = 1700000000000000 + 10 * i
        args = f'"External id": {i}, "device": 0, "context": 1, "stream": 7, "correlation": {i + 1}, "grid": [8, 1, 1], "block": [544, 1, 1]'
        name, stream = NAME, 7
        if i % 50 == 0:
            name, stream = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20
            args = args.replace('"stream": 7', '"stream": 20') + (
                ', "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 1, "dtype": "Float", '
                f'"Process Group Name": "0", "Process Group Ranks": "[0]", "Seq": {i}')
        lines = [f'  {{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": {stream}, "ts": {at}, "dur": 8.123, "args": {{{args}}}}},\n',
                 f'  {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": {at - 900}, "dur": 3.5, '
                 f'"args": {{"External id": {i}, "cbid": 211, "correlation": {i + 1}}}}},\n']
        for k in range(8):
            lines.append(f'  {{"ph": "X", "cat": "cpu_op", "name": "aten::add_", "pid": 9, "tid": 9, "ts": {at - 950 + k}, "dur": 0.75, "args": '
                         f'{{"External id": {i}, "Record function id": {i}, "Ev Idx": {i * 8 + k}, "Input Dims": [[1024, 1024], [1024, 1024], []]}}}},\n')
        text = "".join(lines)
        file.write(text)
        written += len(text)
        i += 1
    file.write('  {"name": "end", "ph": "M", "ts": 0, "pid": 0, "tid": 0, "args": {}}\n  ]\n}\n')
    return i


def main():
    size, limit = (int(word) for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "traces"))
        path = os.path.join(folder, "traces", "rank0.json")
        with open(path, "w", encoding="utf-8") as file:
            kernels = write_events(file, size * 1000000)
        child = subprocess.Popen([os.environ["COLLWIRE"], "import", "kineto", os.path.join(folder, "traces"), "-o",
                                  os.path.join(folder, "job.json")])
        _, status, usage = os.wait4(child.pid, 0)
        peak = usage.ru_maxrss * 1024 / 1e6
        print(f"{os.path.getsize(path) / 1e6:.0f} MB, {kernels} kernels: {peak:.0f} MB of memory, {usage.ru_utime:.1f} s")
    if status != 0:
        print("the import failed")
        return 1
    if peak > limit:
        print(f"above the limit of {limit} MB")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
