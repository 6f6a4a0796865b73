-- SPDX-License-Identifier: MIT
-- Wireshark: the INT trailer that collwire puts after the IP packet of RoCEv2 data and ACKs.
--   wireshark -X lua_script:trace/collwire_int.lua rank0.pcap
-- Layout: trace/int_trailer.c (that of the HPCC prototype, Li et al., SIGCOMM 2019, figure 7).
-- A trailer of one byte is PINT's digest: utilization = 1.05 ^ (digest - 142).

local int = Proto("collwire_int", "In-band network telemetry (collwire)")
local f = int.fields
f.hops = ProtoField.uint8("collwire_int.hops", "Records", base.DEC)
f.path = ProtoField.uint16("collwire_int.path", "Path", base.HEX)
f.rate = ProtoField.string("collwire_int.rate", "Link rate (not below)")
f.time = ProtoField.uint32("collwire_int.time", "Time, ns modulo 2^24", base.DEC)
f.bytes = ProtoField.uint32("collwire_int.bytes", "Bytes sent, modulo 2^27", base.DEC)
f.queue = ProtoField.uint32("collwire_int.queue", "Queue, bytes", base.DEC)
f.pint = ProtoField.uint8("collwire_int.pint", "PINT digest", base.DEC)
f.util = ProtoField.double("collwire_int.util", "Utilization")

local RECORD, HEAD, PINT_ONE = 8, 2, 142

local function record(buffer, tree, k)
    local node = tree:add(int, buffer(), string.format("Switch %d of the path", k))
    local word = buffer:uint64()
    node:add(f.rate, buffer(0, 1), string.format("%d Gb/s", 25 * 2 ^ word:rshift(61):tonumber()))
    node:add(f.time, buffer(0, 4), word:rshift(37):band(0xffffff):tonumber())
    node:add(f.bytes, buffer(3, 4), 128 * word:rshift(17):band(0xfffff):tonumber())
    node:add(f.queue, buffer(5, 3), 80 * word:band(0x1ffff):tonumber())
end

local function dissect(buffer, pinfo, tree)
    local n = buffer:len()
    if n == 1 then
        local node = tree:add(int, buffer())
        local digest = buffer(0, 1):uint()
        node:add(f.pint, buffer(0, 1))
        node:add(f.util, buffer(0, 1), 1.05 ^ (digest - PINT_ONE))
        return true
    end
    if n < HEAD + RECORD then
        return false
    end
    local head = buffer(0, HEAD):uint()
    local hops = bit.rshift(head, 12)
    if HEAD + RECORD * hops > n then
        return false
    end
    local node = tree:add(int, buffer(0, n), string.format("INT, %d records", hops))
    node:add(f.hops, buffer(0, 1), hops)
    node:add(f.path, buffer(0, HEAD), bit.band(head, 0xfff))
    for k = 1, hops do
        record(buffer(HEAD + RECORD * (k - 1), RECORD), node, k)
    end
    return true
end

int:register_heuristic("eth.trailer", dissect)
