-- SPDX-License-Identifier: MIT
-- Wireshark plugin: Ultra Ethernet transport over UDP port 4793, as collwire writes it
-- (transport/uec/frame.c): the packet delivery sublayer and the standard request of the semantic
-- sublayer. Packet types that collwire does not write are named and shown as bytes.
--
--   wireshark -X lua_script:net/capture/wireshark/collwire_uec.lua rank0.pcapng
--
-- Written for Wireshark 4.0 (Lua 5.2) and later (Lua 5.4).

if Dissector.get("uec") then return end -- loaded already, by an installed link to this file

local uec = Proto("uec", "Ultra Ethernet Transport")

local TYPES = { "TSS", "RUD request", "ROD request", "RUDI request", "RUDI response", "UUD request", "ACK", "ACK with CC",
    "ACK with CCX", "NACK", "Control", "NACK with CCX", "RUD request with CC", "ROD request with CC" }
local ACK_CC, NACK, CONTROL, RUD_CC = 8, 10, 11, 13
local CONTROLS = { [0] = "no operation", "ACK request", "clear command", "clear request", "close command",
    "close request", "probe", "credit", "credit request", "negotiation" }
local CODES = { "trimmed", "trimmed at the last hop", "trimmed ACK" }
local CREDIT, NEXT_REQUEST_STD, PDS_CC_BYTES, SES_BYTES = 7, 3, 16, 44

local F = {
    type = ProtoField.uint8("uec.type", "Type", base.DEC, TYPES),
    next = ProtoField.uint8("uec.next", "Next header"),
    ecn = ProtoField.bool("uec.flags.ecn", "ECN marked"),
    retransmit = ProtoField.bool("uec.flags.retransmit", "Retransmission"),
    ackreq = ProtoField.bool("uec.flags.ackreq", "ACK requested"),
    psn = ProtoField.uint32("uec.psn", "PSN"),
    cack = ProtoField.uint32("uec.cack", "Cumulative ACK PSN"),
    ack_psn = ProtoField.uint32("uec.ack_psn", "PSN that caused the ACK"),
    spdcid = ProtoField.uint16("uec.spdcid", "Source PDC", base.HEX),
    dpdcid = ProtoField.uint16("uec.dpdcid", "Destination PDC", base.HEX),
    target = ProtoField.uint32("uec.credit_target", "Credit target (256 B)"),
    credit = ProtoField.uint32("uec.credit", "Credit (256 B)"),
    mpr = ProtoField.uint8("uec.mpr", "MPR"),
    sack_psn = ProtoField.uint32("uec.sack.psn", "SACK base PSN"),
    sack = ProtoField.uint64("uec.sack.bitmap", "SACK bitmap", base.HEX),
    restore = ProtoField.bool("uec.restore", "Window restored"),
    penalty = ProtoField.uint8("uec.penalty", "Receiver window penalty (of 128)"),
    received = ProtoField.uint32("uec.received", "Received bytes (256 B)"),
    code = ProtoField.uint8("uec.nack.code", "NACK code", base.DEC, CODES),
    control = ProtoField.uint8("uec.control", "Control type", base.DEC, CONTROLS),
    som = ProtoField.bool("uec.ses.som", "Start of message"),
    eom = ProtoField.bool("uec.ses.eom", "End of message"),
    message = ProtoField.uint16("uec.ses.message", "Message"),
    offset = ProtoField.uint32("uec.ses.offset", "Message offset"),
    length = ProtoField.uint32("uec.ses.length", "Request length"),
    initiator = ProtoField.uint32("uec.ses.initiator", "Initiator"),
    cut = ProtoField.bool("uec.trimmed", "Cut behind the headers"),
}
for _, field in pairs(F) do
    table.insert(uec.fields, field)
end

local function has(flags, bit)
    return flags % (2 * bit) >= bit
end

-- The number `offset` (16 bits, signed) after a PSN.
local function psn_after(psn, offset)
    return (psn + (offset < 0x8000 and offset or offset - 0x10000)) % 0x100000000
end

local function ses_put(tree, tvb)
    local flags = tvb(1, 1):uint()
    tree:add(F.som, tvb(1, 1), has(flags, 1))
    tree:add(F.eom, tvb(1, 1), has(flags, 2))
    tree:add(F.message, tvb(2, 2))
    tree:add(F.initiator, tvb(20, 4))
    if not has(flags, 1) then tree:add(F.offset, tvb(36, 4)) end
    tree:add(F.length, tvb(40, 4))
end

local function request_put(tree, tvb, next_header)
    tree:add(F.psn, tvb(4, 4))
    tree:add(F.target, tvb(13, 3))
    local text = string.format("PSN %u", tvb(4, 4):uint())
    if tvb:len() < PDS_CC_BYTES + SES_BYTES then
        tree:add(F.cut, tvb(0, 0), true)
        return text .. ", trimmed"
    end
    if next_header == NEXT_REQUEST_STD then ses_put(tree, tvb(PDS_CC_BYTES, SES_BYTES):tvb()) end
    return text
end

local function ack_put(tree, tvb)
    local cack = tvb(4, 4):uint()
    tree:add(F.cack, tvb(4, 4))
    tree:add(F.ack_psn, tvb(2, 2), psn_after(cack, tvb(2, 2):uint()))
    tree:add(F.mpr, tvb(13, 1))
    tree:add(F.sack_psn, tvb(14, 2), psn_after(cack, tvb(14, 2):uint()))
    tree:add(F.sack, tvb(16, 8))
    tree:add(F.restore, tvb(26, 1), tvb(26, 1):uint() >= 128)
    tree:add(F.penalty, tvb(26, 1), tvb(26, 1):uint() % 128)
    tree:add(F.received, tvb(27, 3))
    return string.format("CACK %u", cack)
end

local function nack_put(tree, tvb)
    tree:add(F.code, tvb(2, 1))
    tree:add(F.psn, tvb(4, 4))
    return string.format("PSN %u, %s", tvb(4, 4):uint(), CODES[tvb(2, 1):uint()] or "code " .. tvb(2, 1):uint())
end

local function control_put(tree, tvb, kind)
    tree:add(F.control, tvb(0, 2), kind)
    tree:add(kind == CREDIT and F.credit or F.target, tvb(13, 3))
    return string.format("%s, %u", CONTROLS[kind] or "?", tvb(13, 3):uint())
end

local READERS = { [ACK_CC] = { 32, ack_put }, [NACK] = { 16, nack_put }, [CONTROL] = { 16, control_put },
    [RUD_CC] = { PDS_CC_BYTES, request_put } }

function uec.dissector(tvb, pinfo, tree)
    if tvb:len() < 2 then return 0 end
    local prologue = tvb(0, 2):uint()
    local kind, next_header, flags = math.floor(prologue / 2048), math.floor(prologue / 128) % 16, prologue % 128
    local reader, part = READERS[kind], tree:add(uec, tvb())
    pinfo.cols.protocol = "UEC"
    part:add(F.type, tvb(0, 1), kind)
    local text = TYPES[kind] or "type " .. kind
    if not reader or tvb:len() < reader[1] then
        pinfo.cols.info = text
        return tvb:len()
    end
    if kind ~= CONTROL then part:add(F.next, tvb(0, 2), next_header) end
    part:add(F.retransmit, tvb(1, 1), has(flags, 16))
    if kind == ACK_CC or kind == NACK then
        part:add(F.ecn, tvb(1, 1), has(flags, 32))
    else
        part:add(F.ackreq, tvb(1, 1), has(flags, 8))
    end
    part:add(F.spdcid, tvb(8, 2))
    part:add(F.dpdcid, tvb(10, 2))
    pinfo.cols.info = text .. ", " .. reader[2](part, tvb, next_header)
    return tvb:len()
end

DissectorTable.get("udp.port"):add(4793, uec)
