#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make demo` shows: four policies on 64 GPUs, then other routing. usage: demo.sh COLLWIRE
set -eu
collwire=$1
rail=scenarios/collectives/rail.json
capture='[{"at":"rank47","file":"rank47.pcapng.gz"}]'
spray='--set switch.routing.kind=spray --set transport.recovery=selective_repeat --set transport.reorder=256'

printf '\n$ collwire compare %s --cc none,swift,hpcc,dcqcn\n' "$rail"
"$collwire" compare "$rail" --cc none,swift,hpcc,dcqcn --set report.sample=10us --set "capture=$capture" \
    --out out/demo

printf '\nThe same with packets sprayed over the equal paths:\n'
printf '$ collwire compare %s --cc none,dcqcn \\\n' "$rail"
printf '    --set switch.routing.kind=spray \\\n'
printf '    --set transport.recovery=selective_repeat --set transport.reorder=256\n'
# shellcheck disable=SC2086
"$collwire" compare "$rail" --cc none,dcqcn $spray --out out/demo-spray

cat <<'END'

Look inside:
  the report, in a browser:     xdg-open out/demo/report.html
  the packets of the slow rank: wireshark out/demo/rail/dcqcn/rank47.pcapng.gz
  all reasons for one run:      build/collwire explain out/demo/rail/dcqcn
END
