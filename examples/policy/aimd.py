# SPDX-License-Identifier: MIT
"""The policy of aimd.c, line by line, as a prototype in Python: with the same results, and slower.

python3 aimd.py incast.json
"""
import sys

import collwire as cw
from collwire.policy import Param, Policy, Preset, Red


@cw.add_policy
class Aimd(Policy):
    """additive increase, multiplicative decrease on ECN marks"""

    name = "aimd"
    paper = "Chiu and Jain, Computer Networks and ISDN Systems 17, 1989"
    needs = Policy.NEEDS_ECN
    params = [
        Param("gain", "ratio", "1", "growth in packets per round trip", min="0.01", max="100"),
        Param("beta", "ratio", "0.5", "share of the window that a cut leaves", min="0.1", max="0.99"),
    ]
    state = [("window_bytes", float), ("cut_until", int)]  # no second cut before the ACK of this byte
    presets = [Preset("default", "switches mark from 100 KB on, at every rate", red=Red(100000, 100001, 1, 10**11))]

    def set(self, cc, bytes):
        least, most = cc.env.mtu_bytes, cc.env.window_bytes(2)
        cc.state.window_bytes = min(max(bytes, least), most)
        cc.cwnd_bytes = int(cc.state.window_bytes)

    def init(self, cc, now):
        self.set(cc, cc.env.bdp_bytes())

    def on_ack(self, cc, ack):
        p, s = cc.params, cc.state
        if ack.ce_bytes == 0:
            packets = ack.acked_bytes / s.window_bytes
            self.set(cc, s.window_bytes + p.gain * cc.env.mtu_bytes * packets)
        elif ack.seq > s.cut_until:
            s.cut_until = ack.snd_nxt
            self.set(cc, s.window_bytes * p.beta)


if __name__ == "__main__":
    print(cw.run(sys.argv[1], set={"cc": {"kind": "aimd"}}))
