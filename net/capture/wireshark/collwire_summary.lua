-- SPDX-License-Identifier: MIT
-- Wireshark plugin: a summary of what happened in a capture of collwire, from the comments of its packets.
--
--   Wireshark: Tools, collwire, Summary
--   tshark -q -X lua_script:net/capture/wireshark/collwire_summary.lua -X lua_script1:print -r incast.pcapng
--
-- A packet has the same comment on several links; marks and retransmissions count it once.
-- Written for Wireshark 4.0 (Lua 5.2) and later (Lua 5.4).

local frame_comment = Field.new("frame.comment")
local frame_interface = Field.new("frame.interface_name")
local frame_packet_id = Field.new("frame.packet_id")
local known, frame_verdict = pcall(Field.new, "frame.verdict.hw") -- the packet facts: net/capture/capture_facts.h
local US = { ps = 1e-6, ns = 1e-3, us = 1, ms = 1e3, s = 1e6 }

-- Counts of a table of the summary: rows by key, each with its cells in `keys`.
local function row_at(rows, ...)
    local key = table.concat({ ... }, "\t")
    rows[key] = rows[key] or { keys = { ... }, n = 0, xoff = 0, held = 0, us = 0, longest = 0 }
    return rows[key]
end

local function flow_name()
    local verdict = known and frame_verdict()
    local raw = verdict and verdict.value:raw()
    if not raw or #raw < 16 then return "?" end
    local source, _, number = Struct.unpack(">I4I4I4", raw, 5)
    return string.format("%d.%d", source, number)
end

local function pause_add(s, comment, seconds)
    local interface = frame_interface()
    local from, to = (interface and interface.value or ""):match("^(.-)%->(.*)$")
    local name, class = comment:match("^(XO%a+) of class ([%d,]+)")
    if not from or not name then return end -- dropped, or not a comment of collwire
    local row = row_at(s.pauses, to .. "->" .. from, class)
    if name == "XON" then
        row.open = nil
    elseif not comment:find("renewed:", 1, true) then
        row.xoff = row.xoff + 1
        if not comment:find("by a fault", 1, true) then row.open = row.open or seconds end
    end
end

local function held_add(s, comment)
    local time, unit, class, port = comment:match("^held ([%d.]+) (%a+) by a pause of class (%d+) at (%S+)")
    if not US[unit] then return end
    local row, us = row_at(s.pauses, port, class), time * US[unit]
    row.held, row.us, row.longest = row.held + 1, row.us + us, math.max(row.longest, us)
end

-- Count a packet in a row, unless it has been counted on another link.
local function once_add(s, rows, ...)
    local id = frame_packet_id()
    local key = id and table.concat({ tostring(id.value), ... }, "\t")
    if key and s.seen[key] then return end
    if key then s.seen[key] = true end
    local row = row_at(rows, ...)
    row.n = row.n + 1
end

local function comment_add(s, comment, seconds)
    if comment:find("^XO") then return pause_add(s, comment, seconds) end
    if comment:find("^held ") then return held_add(s, comment) end
    local at, reason = comment:match("^dropped at (%S+): ([%w_]+)")
    if at then
        local row = row_at(s.drops, at, reason)
        row.n = row.n + 1
    end
    at = comment:match("^CE marked at (%S+):")
    if at then once_add(s, s.marks, at) end
    local cause = comment:match("^retransmission ?(.*)")
    if cause then once_add(s, s.resent, flow_name(), cause) end
end

---- Text ----

-- The rows of a table in the order of `before`, then of their keys.
local function sorted(rows, before)
    local list = {}
    for key, row in pairs(rows) do
        row.key = key
        table.insert(list, row)
    end
    table.sort(list, function(a, b)
        local x, y = before(a), before(b)
        if x ~= y then return x > y end
        return a.key < b.key
    end)
    return list
end

-- Lines of text with aligned columns; cells of the first row are the heads.
local function aligned(title, lines)
    if #lines == 1 then return title .. ": none\n\n" end
    local widths, text = {}, { title }
    for _, line in ipairs(lines) do
        for i, cell in ipairs(line) do
            widths[i] = math.max(widths[i] or 0, #cell)
        end
    end
    for _, line in ipairs(lines) do
        local cells = {}
        for i, cell in ipairs(line) do
            cells[i] = cell .. (" "):rep(widths[i] - #cell)
        end
        table.insert(text, " " .. table.concat(cells, "  "):gsub(" +$", ""))
    end
    return table.concat(text, "\n") .. "\n\n"
end

local function count_text(title, rows, ...)
    local lines = { { ... } }
    table.insert(lines[1], "Packets")
    for _, row in ipairs(sorted(rows, function(row) return row.n end)) do
        local line = { table.unpack(row.keys) }
        table.insert(line, tostring(row.n))
        table.insert(lines, line)
    end
    return aligned(title, lines)
end

local function pauses_text(s)
    local lines = { { "Paused port", "Class", "XOFF", "Held", "Held us", "Longest", "Open us" } }
    local function open_us(row)
        return row.open and (s.last - row.open) * 1e6 or 0
    end
    for _, row in ipairs(sorted(s.pauses, function(row) return row.us + open_us(row) end)) do
        table.insert(lines, { row.keys[1], row.keys[2], tostring(row.xoff), tostring(row.held),
            string.format("%.1f", row.us), string.format("%.1f", row.longest),
            row.open and string.format("%.1f", open_us(row)) or "-" })
    end
    return aligned("Pauses (held: packets; open: no XON until the end of the capture)", lines)
end

local function text_of(s)
    if s.packets == 0 then return "No packets\n" end
    return string.format("%d packets, from %.9f s to %.9f s\n\n", s.packets, s.first, s.last) .. pauses_text(s) ..
        count_text("Drops", s.drops, "Port", "Reason") .. count_text("CE marks", s.marks, "Port") ..
        count_text("Retransmissions", s.resent, "Flow", "Cause")
end

---- Taps ----

local function empty()
    return { packets = 0, pauses = {}, drops = {}, marks = {}, resent = {}, seen = {} }
end

-- Collect the summary of the packets that are read, and pass its text to `show` whenever it is due.
local function tap_start(show)
    local tap, s = Listener.new("frame"), empty()
    function tap.reset()
        s = empty()
    end
    function tap.packet(pinfo)
        local seconds = tonumber(tostring(pinfo.abs_ts))
        s.packets, s.first, s.last = s.packets + 1, s.first or seconds, seconds
        for _, comment in ipairs({ frame_comment() }) do
            comment_add(s, comment.value, seconds)
        end
    end
    function tap.draw()
        show(text_of(s))
    end
    return tap
end

if gui_enabled() then
    register_menu("collwire/Summary", function()
        local window = TextWindow.new("collwire: summary")
        local tap = tap_start(function(text) window:set(text) end)
        window:set_atclose(function() tap:remove() end)
        retap_packets()
    end, MENU_TOOLS_UNSORTED)
elseif (...) == "print" then
    tap_start(io.write)
end
