#!/bin/sh
# SPDX-License-Identifier: MIT
# Make the pictures of docs/wireshark.md with a real Wireshark.
#
# usage: docs/pictures/wireshark.sh COLLWIRE [PICTURE...]
#
# Needs Debian's wireshark-qt, xvfb, xdotool and imagemagick. Wireshark runs on a display and in a home
# directory of its own, with the plugin and the profile of this tree. The picture `graph` needs Wireshark 4.4,
# whose graphs have intervals of microseconds, and is not made by default.
set -eu
cd "$(dirname "$0")/../.."
collwire=$(realpath "${1:?usage: wireshark.sh COLLWIRE [PICTURE...]}")
shift
[ $# -gt 0 ] || set -- incast dcqcn hpcc gobackn

work=$(mktemp -d)
export HOME="$work" XDG_RUNTIME_DIR="$work" XDG_CONFIG_HOME="$work/.config" DISPLAY=:97 LC_ALL=C.UTF-8
width=1240 height=640
mkdir -p "$HOME/.config/wireshark/profiles" "$HOME/.local/lib/wireshark/plugins"
cp -r net/capture/wireshark/profiles/collwire "$HOME/.config/wireshark/profiles/"
cp net/capture/wireshark/collwire.lua "$HOME/.local/lib/wireshark/plugins/"
Xvfb "$DISPLAY" -screen 0 ${width}x${height}x24 >/dev/null 2>&1 &
xvfb=$!
trap 'kill $xvfb; rm -rf "$work"' EXIT
sleep 1

# start CAPTURE FILTER: start Wireshark, and fill the screen with its window.
start() {
    wireshark -C collwire -r "$1" ${2:+-Y "$2"} >/dev/null 2>&1 &
    wireshark=$!
    sleep 8
    window=$(xdotool search --onlyvisible --name "$(basename "$1")" | head -n 1)
    xdotool windowmove "$window" 0 0 windowsize "$window" $width $height
    sleep 1
}

# finish NAME [CROP]: take the picture, and end Wireshark.
finish() {
    import -window root "$work/$1.png"
    kill $wireshark 2>/dev/null
    wait $wireshark 2>/dev/null || true
    convert "$work/$1.png" ${2:+-crop "$2" +repage} -colors 64 -define png:compression-level=9 \
        "docs/pictures/wireshark-$1.png"
}

# picture NAME CAPTURE FILTER PACKET KEYS: show CAPTURE with a display filter, select the first packet of these
# that PACKET (a filter) matches, and send KEYS to the pane of details, which shows the plugin's tree last.
picture() {
    start "$2" "$3"
    row=$(tshark -C collwire -r "$2" -Y "$3" -T fields -e frame.number 2>/dev/null |
        grep -n -x "$(tshark -C collwire -r "$2" -Y "($3) && ($4)" -T fields -e frame.number 2>/dev/null | head -n 1)" |
        cut -d : -f 1)
    xdotool mousemove 600 123 click 1
    sleep 1
    for _ in $(seq 2 "$row"); do xdotool key Down; done
    [ "$row" -lt 9 ] || xdotool click --repeat 2 5 # what follows comes into view
    sleep 1
    xdotool mousemove 500 384 click 1
    for key in $5; do xdotool key "$key"; done
    sleep 1
    finish "$1"
}

# The graphs of the profile, in intervals of 10 us: Statistics, I/O Graphs.
graph() {
    start "$1" ""
    xdotool mousemove 280 9 click 1
    sleep 1
    xdotool key Down Down Down Down Down Down Down Return
    sleep 4
    xdotool mousemove 592 587 click 1
    sleep 1
    xdotool key Home Down Down Down Return
    sleep 2
    xdotool mousemove 183 617 click 1 # Reset: show all of the time
    sleep 2
    finish graph 934x466+144+10
}

run() {
    "$collwire" run "$@" --quiet --out "$work/out" || [ $? -eq 1 ]
}

for name; do
    case $name in
    incast)
        run scenarios/incast.json --capture dim0.sw0 -w incast.pcapng
        picture incast "$work/out/incast.pcapng" 'eth.type == 0x8808 || collwire.held || collwire.triggered' \
            'collwire.event == "XOFF"' 'End Right' ;;
    dcqcn)
        run scenarios/incast.json --set cc.kind=dcqcn --capture rank3 -w dcqcn.pcapng
        picture dcqcn "$work/out/dcqcn.pcapng" 'collwire.flow == "3.0" && !(collwire.event == "ACK")' \
            'collwire.event == "CNP"' 'End Right' ;;
    graph)
        run scenarios/incast.json --set cc.kind=dcqcn --capture rank3 -w dcqcn.pcapng
        graph "$work/out/dcqcn.pcapng" ;;
    hpcc)
        run scenarios/congestion/victim.json --set cc.kind=hpcc --set 'capture=[{"at": "rank0,leaf0,spine0,leaf2",
            "file": "hpcc.pcapng", "to": "60us"}]'
        id=$(tshark -C collwire -r "$work/out/hpcc.pcapng" -T fields -e frame.packet_id \
            -Y 'collwire.flow == "0.0" && infiniband.bth.psn == 60 && collwire.kind == "data"' 2>/dev/null | head -n 1)
        picture hpcc "$work/out/hpcc.pcapng" "frame.packet_id == $id" \
            "frame.packet_id == $id && frame.interface_name == \"leaf2->rank8\"" 'End Up Right' ;;
    gobackn)
        run scenarios/incast.json --set switch.pfc.enabled=false --set switch.buffer=1MB --capture dim0.sw0 \
            -w gobackn.pcapng
        picture gobackn "$work/out/gobackn.pcapng" \
            'collwire.flow == "3.0" && (collwire.dropped || collwire.retransmission || collwire.event contains "NAK")' \
            'collwire.event contains "NAK"' 'End Right' ;;
    *) echo "wireshark.sh: no picture is called $name" >&2; exit 2 ;;
    esac
done
