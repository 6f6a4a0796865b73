-- SPDX-License-Identifier: MIT
-- Wireshark plugin for captures of collwire: facts of the simulator, names of events, INT.
--
--   wireshark -X lua_script:net/capture/wireshark/collwire.lua rank0.pcapng
--
-- Fields `collwire.*` come from the comments and the verdict of a packet in a pcapng file
-- (net/capture/capture_facts.h). Events and the Info column of CNP, PFC, ACK and NAK frames need the frame alone, so
-- they also work in a .pcap and in captures of real hardware.
-- Fields `collwire_int.*` are the telemetry behind the IP packet of RoCEv2 data and ACKs.
-- Written for Wireshark 4.0 (Lua 5.2) and later (Lua 5.4).

if Dissector.get("collwire") then return end -- loaded already, by an installed link to this file

local collwire = Proto("collwire", "collwire (facts of the simulator)")

---- Fields ----

local F = {
    kind = ProtoField.string("collwire.kind", "Kind"),
    event = ProtoField.string("collwire.event", "Event"),
    flow = ProtoField.string("collwire.flow", "Flow"),
    rank = ProtoField.uint32("collwire.rank", "Sent by rank"),
    src = ProtoField.uint32("collwire.src", "Source rank of the flow"),
    dst = ProtoField.uint32("collwire.dst", "Destination rank of the flow"),
    message = ProtoField.uint32("collwire.message", "Message of the source"),
    job = ProtoField.uint16("collwire.job", "Job"),
    communicator = ProtoField.uint16("collwire.communicator", "Communicator of the job"),
    collective = ProtoField.uint32("collwire.collective", "Collective"),
    op = ProtoField.string("collwire.op", "Operation"),
    layer = ProtoField.string("collwire.layer", "Layer"),
    step = ProtoField.uint16("collwire.step", "Step"),
    chunk = ProtoField.uint16("collwire.chunk", "Chunk"),
    phase = ProtoField.uint16("collwire.phase", "Phase"),
    window = ProtoField.uint64("collwire.window", "Congestion window at sending (bytes)"),
    rate = ProtoField.uint64("collwire.rate", "Rate at sending (bit/s)"),
    policy = ProtoField.string("collwire.policy", "Policy at sending"),
    first_link = ProtoField.bool("collwire.first_link", "First link of the packet's path"),
    retransmission = ProtoField.bool("collwire.retransmission", "Retransmission"),
    cause = ProtoField.string("collwire.retransmission.cause", "Cause of the retransmission"),
    nak_arrived = ProtoField.uint32("collwire.nak.arrived", "PSN that arrived instead"),
    marked = ProtoField.bool("collwire.marked", "CE-marked by the port of this link"),
    dropped = ProtoField.bool("collwire.dropped", "Dropped"),
    held = ProtoField.bool("collwire.held", "Held by a pause at this port"),
    triggered = ProtoField.bool("collwire.triggered", "Triggered an XOFF of the switch that it leaves here"),
    mark_at = ProtoField.string("collwire.mark.at", "CE-marked at"),
    mark_queue = ProtoField.uint64("collwire.mark.queue", "Queue at marking (bytes)"),
    mark_probability = ProtoField.double("collwire.mark.probability", "Probability of marking"),
    drop_at = ProtoField.string("collwire.drop.at", "Dropped at"),
    drop_reason = ProtoField.string("collwire.drop.reason", "Reason of the drop"),
    drop_queue = ProtoField.uint64("collwire.drop.queue", "Queue at the drop (bytes)"),
    drop_limit = ProtoField.uint64("collwire.drop.limit", "Limit at the drop (bytes)"),
    pfc_from = ProtoField.string("collwire.pfc.from", "Sender of the pause"),
    pfc_to = ProtoField.string("collwire.pfc.to", "Receiver of the pause"),
    pfc_class = ProtoField.uint8("collwire.pfc.class", "Class of the pause"),
    pfc_quanta = ProtoField.uint16("collwire.pfc.quanta", "Quanta of the pause"),
    pfc_ingress = ProtoField.string("collwire.pfc.ingress", "Ingress from"),
    pfc_port = ProtoField.string("collwire.pfc.port", "Port that sends the XOFF"),
    pfc_bytes = ProtoField.uint64("collwire.pfc.bytes", "Bytes held for the ingress"),
    pfc_limit = ProtoField.uint64("collwire.pfc.limit", "Limit of the ingress (bytes)"),
    pfc_flow = ProtoField.string("collwire.pfc.flow", "Flow whose packet triggered the XOFF"),
    pause = ProtoField.relative_time("collwire.pause", "Length of the pause"),
}

-- A field of another dissector; one that this version of Wireshark does not have never has a value.
local function other(name)
    local known, field = pcall(Field.new, name)
    return known and field or function() end
end

local frame_verdict = other("frame.verdict.hw")
local frame_comment = other("frame.comment")
local frame_interface = other("frame.interface_name")
local frame_description = other("frame.interface_description")
local frame_packet_id = other("frame.packet_id")
for _, field in pairs(F) do
    table.insert(collwire.fields, field)
end

---- The facts of a packet: the verdict of type "hardware" ----

local VERSION, FACTS_BYTES = 1, 52
local KINDS = { [0] = "data", "ACK", "CNP", [4] = "trimmed", [5] = "credit" }
local RETRANSMISSION, MESSAGE, COLLECTIVE, WINDOW, RATE = 1, 2, 4, 8, 16
local MARKED, DROPPED, HELD, TRIGGERED = 32, 64, 128, 256
local FLAG_FIELDS = { { RETRANSMISSION, F.retransmission }, { MARKED, F.marked }, { DROPPED, F.dropped },
    { HELD, F.held }, { TRIGGERED, F.triggered } }

local function has(flags, flag)
    return flags % (2 * flag) >= flag
end

-- The verdict of the packet as a string, or nil if it has no facts.
local function facts_find()
    local verdict = frame_verdict()
    local raw = verdict and verdict.value:raw()
    if raw and #raw >= FACTS_BYTES and raw:byte(1) == VERSION then return raw end
end

local PREFIXES = { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1e3, "K" } }

local function scaled(value, unit)
    for _, prefix in ipairs(PREFIXES) do
        if value >= prefix[1] then return string.format("%.3g %s%s", value / prefix[1], prefix[2], unit) end
    end
    return string.format("%d %s", value, unit)
end

local function facts_read(raw)
    local facts, op_bytes, label_bytes = {}, nil, nil
    facts.version, facts.kind, facts.flags, facts.src, facts.dst, facts.number, facts.message,
        facts.job, facts.step, facts.collective, facts.chunk, facts.phase, facts.window, facts.rate,
        facts.communicator, op_bytes, label_bytes =
        Struct.unpack(">BBI2I4I4I4I4I2I2I4I2I2EEI2BB", raw)
    facts.op = raw:sub(FACTS_BYTES + 1, FACTS_BYTES + op_bytes)
    facts.label = raw:sub(FACTS_BYTES + op_bytes + 1, FACTS_BYTES + op_bytes + label_bytes)
    facts.flow = string.format("%d.%d", facts.src, facts.number)
    return facts
end

-- "12.5 Gb/s, 64.0 KB": the policy's rate and window.
local function policy_text(facts)
    local texts = {}
    if has(facts.flags, RATE) then table.insert(texts, scaled(facts.rate:tonumber(), "b/s")) end
    if has(facts.flags, WINDOW) then table.insert(texts, scaled(facts.window:tonumber(), "B")) end
    return table.concat(texts, ", ")
end

-- The nodes at both ends of the packet's link, or nil.
local function link_ends()
    local interface = frame_interface()
    return (interface and interface.value or ""):match("^(.-)%->(.*)$")
end

-- Whether the packet leaves the rank that sent it; elsewhere it is the same packet on a later link.
local function is_first_link(rank)
    local from = (link_ends() or ""):match("^rank(%d+)")
    return from and tonumber(from) == rank
end

local function facts_put(put, facts)
    local forward = facts.kind == 0 or facts.kind == 4
    local flags, rank = facts.flags, forward and facts.src or facts.dst
    put(F.flow, facts.flow)
    put(F.rank, rank)
    if is_first_link(rank) then put(F.first_link, true) end
    put(F.src, facts.src)
    put(F.dst, facts.dst)
    if has(flags, MESSAGE) then
        put(F.message, facts.message)
        put(F.job, facts.job)
    end
    if has(flags, COLLECTIVE) then
        put(F.communicator, facts.communicator)
        put(F.collective, facts.collective)
        put(F.step, facts.step)
        put(F.chunk, facts.chunk)
        put(F.phase, facts.phase)
    end
    if facts.op ~= "" then put(F.op, facts.op) end
    if facts.label ~= "" then put(F.layer, facts.label) end
    if has(flags, WINDOW) then put(F.window, facts.window) end
    if has(flags, RATE) then put(F.rate, facts.rate) end
    if facts.kind == 0 and (has(flags, RATE) or has(flags, WINDOW)) then put(F.policy, policy_text(facts)) end
    for _, known in ipairs(FLAG_FIELDS) do
        if has(flags, known[1]) then put(known[2], true) end
    end
end

---- The comments of a packet ----

local UNITS = { ps = 1e-3, ns = 1, us = 1e3, ms = 1e6, s = 1e9 }

local function time_of(text)
    local value, unit = text:match("^([%d.]+) (%a+)$")
    if not tonumber(value) or not UNITS[unit] then return end
    local ns = math.floor(value * UNITS[unit] + 0.5)
    return NSTime.new(math.floor(ns / 1e9), math.floor(ns % 1e9))
end

-- The field, the pattern of its value in a comment, and how that is read; nil: as text.
local MARK = { { F.mark_at, " (%S+): queue" }, { F.mark_queue, ": queue (%d+) B", UInt64.new },
    { F.mark_probability, "probability ([%d.eE+-]+)", tonumber } }
local INGRESS, HOLDS = { F.pfc_ingress, "ingress from (%S+)" }, { F.pfc_bytes, "h[oe]ld%a* (%d+) B", UInt64.new }
local LIMIT = { F.pfc_limit, "limit (%d+) B", UInt64.new }
local READERS = { -- by the begin of a comment
    { "^CE marked at ", MARK },
    { "^acknowledges a packet marked at ", MARK },
    { "^reports the CE mark of ", MARK },
    { "^dropped at ", { { F.drop_at, "^dropped at (%S+):" }, { F.drop_reason, ": ([%w_]+)" },
        { F.drop_queue, ", queue (%d+) B", UInt64.new }, { F.drop_limit, ", limit (%d+) B", UInt64.new } } },
    { "^XOFF of class ", { INGRESS, HOLDS, LIMIT, { F.pfc_flow, "after flow (%d+%.%d+)" } } },
    { "^XON of class ", { INGRESS, HOLDS } },
    { "^triggered XOFF on ", { { F.pfc_port, " on (%S+):" }, HOLDS, LIMIT } },
    { "^held ", { { F.pause, "^held ([%d.]+ %a+) by a pause", time_of } } },
    { "^retransmission ", { { F.cause, "^retransmission %a+ an? (.*)" } } },
    { "^asks for ", { { F.nak_arrived, "PSN (%d+) has arrived", tonumber } } },
}

local function comment_put(put, comment)
    for _, reader in ipairs(READERS) do
        if comment:find(reader[1]) then
            for _, part in ipairs(reader[2]) do
                local text, read = comment:match(part[2]), part[3]
                local value = text and (read and read(text) or not read and text)
                if value then put(part[1], value) end
            end
            return
        end
    end
end

-- The first comment that begins with `start`, or nil.
local function comment_find(comments, start)
    for _, comment in ipairs(comments) do
        if comment:sub(1, #start) == start then return comment end
    end
end

---- The frame: what its headers say ----
--
-- Read from the bytes: a lookup of a field of another dissector costs Wireshark about as much as the packet.

local TYPE_AT, VLANS = 13, { [0x8100] = true, [0x88a8] = true }
local IPV4, IPV6, MAC_CONTROL = 0x0800, 0x86dd, 0x8808
local UDP, ROCE_PORT, BTH_BYTES, HEADERS_MAX = 17, 4791, 12, 128
local CNP, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE = 0x81, 0x11, 0x12
local PAUSE, PFC = 0x0001, 0x0101
local CE = 3

local function number(bytes, at, n)
    local value = 0
    for i = at, at + n - 1 do
        value = 256 * value + bytes:byte(i)
    end
    return value
end

-- Position of the UDP header and the ECN bits of the packet in an IP header at `at`.
local function ip_read(bytes, at, kind)
    if kind == IPV4 and #bytes >= at + 19 then
        return bytes:byte(at + 9) == UDP and at + 4 * (bytes:byte(at) % 16) or nil, bytes:byte(at + 1) % 4
    elseif kind == IPV6 and #bytes >= at + 39 then
        return bytes:byte(at + 6) == UDP and at + 40 or nil, math.floor(bytes:byte(at + 1) / 16) % 4
    end
end

-- Position of the BTH, ECN bits, position of the opcode of MAC control: those that the frame has.
local function headers_find(bytes)
    local at = TYPE_AT
    while #bytes >= at + 5 and VLANS[number(bytes, at, 2)] do
        at = at + 4
    end
    if #bytes < at + 3 then return end
    local kind = number(bytes, at, 2)
    if kind == MAC_CONTROL then return nil, nil, at + 2 end
    local udp, ecn = ip_read(bytes, at + 2, kind)
    local roce = udp and #bytes >= udp + 7 + BTH_BYTES and number(bytes, udp + 2, 2) == ROCE_PORT
    return roce and udp + 8 or nil, ecn
end

-- The same; plain RoCEv2 over IPv4 is most of a capture, and is found by its bytes in fixed places.
local function headers_read(bytes)
    local type_high, type_low, version, tos = bytes:byte(TYPE_AT, TYPE_AT + 3)
    if version == 0x45 and type_high == 0x08 and type_low == 0x00 and bytes:byte(24) == UDP and #bytes >= 54 then
        local port_high, port_low = bytes:byte(37, 38)
        if port_high == 0x12 and port_low == 0xb7 then return 43, tos % 4 end
    end
    return headers_find(bytes)
end

---- Names of events ----

local NAKS = { [0] = "NAK (sequence error)", "NAK (invalid request)", "NAK (remote access error)",
    "NAK (remote operational error)", "NAK (invalid RD request)" }

-- The name of an acknowledgement by its AETH syndrome (InfiniBand Architecture 1.4, 9.7.5.2).
local function ack_name(syndrome)
    local kind = math.floor(syndrome / 32) % 4
    if kind == 0 then return "ACK" end
    if kind == 1 then return "RNR" end
    if kind == 3 then return NAKS[syndrome % 32] or "NAK (code " .. syndrome % 32 .. ")" end
    return "reserved syndrome"
end

local link_rates = {} -- by description of the interface

local function link_rate(description)
    if link_rates[description] == nil then
        local value, prefix = description:match("^([%d.]+) ([GMTk]?)b/s")
        local factor = ({ k = 1e3, M = 1e6, G = 1e9, T = 1e12, [""] = 1 })[prefix]
        link_rates[description] = value and { bps = tonumber(value) * factor, text = value .. " " .. prefix .. "b/s" }
            or false
    end
    return link_rates[description]
end

-- "65535 quanta = 335 us at 100 Gb/s"; a quantum is 512 bits of the link (IEEE 802.3, annex 31B).
local function quanta_text(quanta)
    local description = frame_description()
    local rate = description and link_rate(description.value)
    if not rate then return quanta .. " quanta" end
    return string.format("%d quanta = %.3g us at %s", quanta, quanta * 512e6 / rate.bps, rate.text)
end

-- One entry {class, quanta} for each class that the frame at `at` pauses or resumes; no class: the link.
local function pauses_read(bytes, at)
    local list = {}
    local function add(class, quanta)
        table.insert(list, { class = class, quanta = quanta })
    end
    local opcode = number(bytes, at, 2)
    if opcode == PAUSE and #bytes >= at + 3 then add(nil, number(bytes, at + 2, 2)) end
    if opcode ~= PFC or #bytes < at + 19 then return list end
    local vector = number(bytes, at + 2, 2)
    for class = 0, 7 do
        if has(vector, 2 ^ class) then add(class, number(bytes, at + 4 + 2 * class, 2)) end
    end
    return list
end

local function flow_text(facts)
    return string.format("flow %s, rank%d->rank%d", facts.flow, facts.src, facts.dst)
end

-- Each of these names the events of a kind of frame and returns the text of the Info column, or nil to leave it.

local function pfc_events(events, pauses, comments)
    local cause = comment_find(comments, "XO")
    local kind = cause and (cause:match("( renewed):") or cause:match(" by a fault$")) or ""
    local texts, times = {}, {}
    for _, pause in ipairs(pauses) do
        local name = pause.quanta > 0 and "XOFF" or "XON"
        table.insert(events, name .. kind)
        table.insert(texts, name .. " of " .. (pause.class and "class " .. pause.class or "the link"))
        if pause.quanta > 0 then table.insert(times, quanta_text(pause.quanta)) end
    end
    local info = cause or table.concat(texts, ", ")
    if #times > 0 then info = info .. "; " .. table.concat(times, ", ") end
    return #pauses > 0 and info or nil
end

-- " QP=0x000100"; nothing where the frame is cut before it.
local function queue_pair_text(bytes, bth)
    return bth and string.format(" QP=0x%06x", number(bytes, bth + 5, 3)) or ""
end

local function cnp_events(events, queue_pair, facts, comments)
    table.insert(events, "CNP")
    local mark = comment_find(comments, "reports the CE mark of ")
    return "CNP" .. queue_pair .. (facts and ", " .. flow_text(facts) or "") .. (mark and ", " .. mark or "")
end

local function nak_text(name, queue_pair, psn, facts, comments)
    local arrived = (comment_find(comments, "asks for PSN") or ""):match(": .*") or ""
    return string.format("%s%s PSN=%d%s%s", name, queue_pair, psn, arrived, facts and ", " .. flow_text(facts) or "")
end

-- What happened to a packet of any kind: flag, event, begin of its comment.
local MISHAPS = { { RETRANSMISSION, "retransmission", "retransmission" }, { 0, "CE", "CE" }, { HELD, "held", "held" },
    { TRIGGERED, "trigger", "triggered XOFF" }, { DROPPED, "drop", "dropped" } }

-- The texts begin the Info column.
local function mishaps(events, flags, ecn, comments)
    local texts = {}
    for _, mishap in ipairs(MISHAPS) do
        local flag, event, start = mishap[1], mishap[2], mishap[3]
        if flag == 0 and ecn == CE or flag > 0 and has(flags, flag) then
            table.insert(events, event)
            table.insert(texts, (comment_find(comments, start) or start))
        end
    end
    return table.concat(texts, ", ")
end

---- The dissector ----

local selected = {} -- of the packet whose details the window shows
local own_dissector

local function comments_read()
    local comments = { frame_comment() }
    for i, comment in ipairs(comments) do
        comments[i] = comment.value
    end
    return comments
end

local function remember(facts, pauses, comments)
    local interface, id = frame_interface(), frame_packet_id()
    selected = { facts = facts, pauses = pauses, interface = interface and interface.value,
        id = id and tostring(id.value) }
    selected.flow, selected.psn = (comment_find(comments, "XOFF") or ""):match("after flow (%d+%.%d+) PSN (%d+)")
end

local function tree_put(tvb, tree, kind, facts, pauses, comments, events)
    local all = tree.visible
    local root = tree:add(collwire, tvb(0, 0))
    local function put(field, value)
        if all or tree:referenced(field) then root:add(field, value) end
    end
    put(F.kind, kind)
    for _, event in ipairs(events) do
        put(F.event, event)
    end
    if facts then facts_put(put, facts) end
    local from, to = link_ends()
    if pauses and from then
        put(F.pfc_from, from)
        put(F.pfc_to, to)
    end
    for _, pause in ipairs(pauses or {}) do
        if pause.class then put(F.pfc_class, pause.class) end
        put(F.pfc_quanta, pause.quanta)
    end
    for _, comment in ipairs(comments) do
        comment_put(put, comment)
    end
    if all then
        root:append_text(": " .. (events[1] or kind) .. (facts and ", " .. flow_text(facts) or ""))
        remember(facts, pauses, comments)
    end
end

-- The kind of a packet, and the name of an acknowledgement.
local function kind_read(bytes, bth, pause, raw)
    if pause then return "PFC" end
    local opcode = bth and bytes:byte(bth)
    if opcode == CNP then return "CNP" end
    if opcode == ACKNOWLEDGE or opcode == ATOMIC_ACKNOWLEDGE then
        return "ACK", #bytes >= bth + BTH_BYTES and ack_name(bytes:byte(bth + BTH_BYTES)) or "ACK"
    end
    local kind = raw and KINDS[raw:byte(2)] or (raw or bth) and "data"
    return kind, kind == "ACK" and "ACK" or nil
end

function collwire.dissector(tvb, pinfo, tree)
    local bytes, raw = tvb:raw(0, math.min(tvb:captured_len(), HEADERS_MAX)), facts_find()
    local bth, ecn, pause = headers_read(bytes)
    local kind, ack = kind_read(bytes, bth, pause, raw)
    if not kind then return end
    own_dissector = own_dissector or Dissector.get("collwire")
    local wanted, flags = tree:referenced(own_dissector), raw and 256 * raw:byte(3) + raw:byte(4) or 0
    local eventful = ecn == CE or flags % 2 > 0 or flags >= MARKED
    if not wanted and not eventful and (kind == "data" or ack == "ACK") then return end

    local events, comments, info, facts, pauses = {}, comments_read(), nil, nil, nil
    if raw and (wanted or kind == "CNP" or ack and ack ~= "ACK") then facts = facts_read(raw) end
    if pause then
        pauses = pauses_read(bytes, pause)
        info = pfc_events(events, pauses, comments)
    elseif kind == "CNP" then
        info = cnp_events(events, queue_pair_text(bytes, bth), facts, comments)
    elseif kind == "trimmed" then
        table.insert(events, "trim")
        pinfo.cols.info:prepend("[" .. (comment_find(comments, "trimmed") or "trimmed") .. "] ")
    elseif ack then
        table.insert(events, ack)
        if ack ~= "ACK" then
            info = nak_text(ack, queue_pair_text(bytes, bth), number(bytes, bth + 9, 3), facts, comments)
        end
    end
    if info then pinfo.cols.info = info end
    local more = eventful and mishaps(events, flags, ecn, comments) or ""
    if more ~= "" then pinfo.cols.info:prepend("[" .. more .. "] ") end
    if wanted then tree_put(tvb, tree, kind, facts, pauses, comments, events) end
end

register_postdissector(collwire)

---- In-band network telemetry: the trailer that net/capture/int_trailer.c writes ----
--
-- nHop 4 | path 12, then for each switch rate 3 | time, ns 24 | bytes sent / 128  20 | queue / 80  17
-- (the prototype of HPCC: Li et al., SIGCOMM 2019, figure 7). A trailer of one byte is PINT's digest:
-- utilization = 1.05 ^ (digest - 142).

local int = Proto("collwire_int", "In-band network telemetry (collwire)")

local I = {
    hops = ProtoField.uint8("collwire_int.hops", "Records", base.DEC),
    path = ProtoField.uint16("collwire_int.path", "Path", base.HEX),
    longest = ProtoField.uint32("collwire_int.longest", "Longest queue of the path (bytes)", base.DEC),
    hop = ProtoField.uint8("collwire_int.hop", "Switch of the path", base.DEC),
    rate = ProtoField.uint32("collwire_int.rate", "Link rate, rounded down (Gb/s)", base.DEC),
    time = ProtoField.uint32("collwire_int.time", "Time, ns modulo 2^24", base.DEC),
    bytes = ProtoField.uint32("collwire_int.bytes", "Bytes sent, modulo 2^27", base.DEC),
    queue = ProtoField.uint32("collwire_int.queue", "Queue (bytes)", base.DEC),
    pint = ProtoField.uint8("collwire_int.pint", "PINT digest", base.DEC),
    util = ProtoField.double("collwire_int.util", "Utilization"),
}

for _, field in pairs(I) do
    table.insert(int.fields, field)
end

local RECORD, HEAD, PINT_ONE, PINT_BASE = 8, 2, 142, 1.05

local function record_put(buffer, tree, k)
    local word = buffer:uint64()
    local queue = 80 * word:band(0x1ffff):tonumber()
    local rate = math.floor(25 * 2 ^ word:rshift(61):tonumber())
    local text = string.format("Switch %d of the path: queue %d B, at least %d Gb/s", k, queue, rate)
    local node = tree:add(int, buffer(), text)
    node:add(I.hop, buffer(0, 1), k)
    node:add(I.rate, buffer(0, 1), rate)
    node:add(I.time, buffer(0, 4), word:rshift(37):band(0xffffff):tonumber())
    node:add(I.bytes, buffer(3, 4), 128 * word:rshift(17):band(0xfffff):tonumber())
    node:add(I.queue, buffer(5, 3), queue)
    return queue
end

local function int_dissect(buffer, pinfo, tree)
    local n = buffer:len()
    if n == 1 then
        local digest = buffer(0, 1):uint()
        local utilization = PINT_BASE ^ (digest - PINT_ONE)
        local node = tree:add(int, buffer(), string.format("PINT, utilization %.3g", utilization))
        node:add(I.pint, buffer(0, 1))
        node:add(I.util, buffer(0, 1), utilization)
        return true
    end
    if n < HEAD + RECORD then return false end
    local head = buffer(0, HEAD):uint()
    local hops = math.floor(head / 4096)
    if HEAD + RECORD * hops > n then return false end
    local node, longest = tree:add(int, buffer(0, n)), 0
    node:add(I.hops, buffer(0, 1), hops)
    node:add(I.path, buffer(0, HEAD), head % 4096)
    for k = 1, hops do
        longest = math.max(longest, record_put(buffer(HEAD + RECORD * (k - 1), RECORD), node, k))
    end
    node:add(I.longest, buffer(0, n), longest)
    node:set_text(string.format("INT, %d records, longest queue %d B", hops, longest))
    return true
end

int:register_heuristic("eth.trailer", int_dissect)

---- Menus: filters made from the packet whose details the window shows ----

-- The other direction of a link: "rank3->leaf0" of "leaf0->rank3"; nil for names of another form.
local function reverse(interface)
    local from, to = interface:match("^(.-)%->(.*)$")
    return from and to .. "->" .. from
end

local function collective_filter(facts)
    return string.format("collwire.job == %d && collwire.communicator == %d && collwire.collective == %d",
        facts.job, facts.communicator, facts.collective)
end

-- The facts of the selected packet if it has this flag.
local function facts_with(flag)
    return selected.facts and has(selected.facts.flags, flag) and selected.facts
end

local MENU = {
    { "Follow flow", "collwire.flow", function()
        return selected.facts and string.format('collwire.flow == "%s"', selected.facts.flow)
    end },
    { "Follow packet hop by hop", "frame.packet_id", function()
        return selected.id and "frame.packet_id == " .. selected.id
    end },
    { "Message", "collwire.message", function()
        local facts = facts_with(MESSAGE)
        return facts and string.format("collwire.src == %d && collwire.message == %d", facts.src, facts.message)
    end },
    { "Collective", "collwire.collective", function()
        local facts = facts_with(COLLECTIVE)
        return facts and collective_filter(facts)
    end },
    { "Step of the collective", "collwire.collective", function()
        local facts = facts_with(COLLECTIVE)
        return facts and string.format("%s && collwire.chunk == %d && collwire.phase == %d && collwire.step == %d",
            collective_filter(facts), facts.chunk, facts.phase, facts.step)
    end },
    { "Pauses of this port", "frame.interface_name", function()
        local interface = selected.interface
        local port = interface and (selected.pauses and reverse(interface) or interface)
        local other_way = port and reverse(port)
        return other_way and string.format('(eth.type == 0x8808 && frame.interface_name == "%s") || ' ..
            '(collwire.held && frame.interface_name == "%s")', other_way, port)
    end },
    { "Packet that triggered this XOFF", "collwire.pfc.flow", function()
        return selected.flow and string.format(
            'collwire.flow == "%s" && collwire.kind == "data" && (infiniband.bth.psn == %d || tcp.seq == %d)',
            selected.flow, selected.psn % 2 ^ 24, selected.psn + 1) -- TCP: bytes, and the SYN is the first
    end },
    { "This link", "frame.interface_name", function()
        return selected.interface and string.format('frame.interface_name == "%s"', selected.interface)
    end },
}

local function filter_apply(filter)
    set_filter(filter)
    apply_filter()
end

local function menus_register()
    for _, entry in ipairs(MENU) do
        local name, required, filter_of = entry[1], entry[2], entry[3]
        local function act()
            local filter = filter_of()
            if filter then
                filter_apply(filter)
            else
                report_failure("collwire: the capture does not have this of the selected packet.")
            end
        end
        register_menu("collwire/" .. name, act, MENU_TOOLS_UNSORTED)
        if register_packet_menu then register_packet_menu("collwire/" .. name, act, required) end
    end
    register_menu("collwire/Follow flow ...", function()
        new_dialog("Follow flow", function(flow)
            filter_apply(string.format('collwire.flow == "%s"', flow))
        end, "Flow (3.0 = the first that rank 3 opened)")
    end, MENU_TOOLS_UNSORTED)
end

if gui_enabled and gui_enabled() then menus_register() end
