#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports in a headless Chromium: a run, a comparison of six policies and a sweep over three axes open
without an error and without a request, below 3 MB; legends, zoom, tooltips, tables, choices, both themes,
a phone's width and paper do what they should. Skipped (77) without Chromium or without the charts.
COLLWIRE names the program.

usage: check_page.py SCENARIOS TEMPLATE
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

import browser

COLLWIRE = os.environ["COLLWIRE"]
os.environ.pop("COLLWIRE_SHARE", None)  # the charts of this build
LIMIT = 3_000_000
failures = []


def expect(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def collwire(*words):
    done = subprocess.run([COLLWIRE, *words], capture_output=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{words}: {done.stderr.decode()}")


def sweep(folder):
    """A table as `collwire sweep` writes it, with times that are known."""
    os.makedirs(folder)
    with open(os.path.join(folder, "sweep.csv"), "w", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["cc.kind", "switch.buffer", "workload.senders", "seed", "status", "fct_max_ns", "max_queue_bytes"])
        for policy, factor in (("none", 1), ("dcqcn", 3), ("swift", 2)):
            for buffer in ("1MB", "2MB", "8MB"):
                for senders in (4, 8, 16, 32):
                    for seed in (1, 2):
                        done = (policy, buffer, senders) != ("dcqcn", "1MB", 32) or seed == 1
                        row = [senders * 1000 * factor + seed - 1, senders * 5000] if done else ["", ""]
                        out.writerow([policy, buffer, senders, seed, "completed" if done else "incomplete", *row])
    return folder


def sweep_of_jobs(folder):
    """Four runs of two jobs: a row for each run and for each job in it."""
    os.makedirs(folder)
    with open(os.path.join(folder, "sweep.csv"), "w", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["switch.buffer", "switch.ecn.kmin", "seed", "job", "status", "sim_time_ns"])
        for i, buffer in enumerate(("1MB", "2MB")):
            for j, kmin in enumerate(("10KB", "20KB")):
                for job, time in (("", 12100000 - 100000 * i), ("train", 4400000 + 1500000 * i + 180000 * i * j),
                                  ("ckpt", 12100000 - 400000 * i)):
                    out.writerow([buffer, kmin, 1, job, "completed", time])
    return folder


def comparison_report(tmp, scenarios):
    compare = os.path.join(tmp, "compare")
    collwire("compare", os.path.join(scenarios, "collectives", "rail.json"), "--cc",
             "none,swift,hpcc,dcqcn,window,timely", "--set", "report.sample=10us", "--out", compare, "--quiet")
    expect(os.path.exists(os.path.join(compare, "report.html")), "compare writes its report")
    return compare


def reports(tmp, scenarios):
    run = os.path.join(tmp, "run")
    collwire("run", os.path.join(scenarios, "dlrm", "dlrm-16.json"), "--set", "report.timeline=true",
             "--set", "report.sample=20us", "--set", "report.flows_max=100", "--out", run, "--quiet")
    compare = comparison_report(tmp, scenarios)
    vary = os.path.join(tmp, "vary")
    collwire("compare", os.path.join(scenarios, "incast.json"), "--vary", "workload.bytes=100KB,200KB", "--cc", "none,dcqcn",
             "--out", vary, "--quiet")
    sizes = os.path.join(tmp, "sizes")
    collwire("sweep", os.path.join(scenarios, "collectives", "allreduce-1d.json"), "--sizes", "1K:1M:32", "--cc", "none,swift",
             "--seeds", "5", "--set", 'noise={"preset":"cluster"}', "--why", "--out", sizes, "--quiet")
    one, passes = os.path.join(tmp, "one"), os.path.join(tmp, "passes")
    dlrm = (os.path.join(scenarios, "start", "dlrm.json"), "--set", "workload.iterations=3", "--quiet")
    collwire("run", *dlrm, "--out", one)
    collwire("compare", *dlrm, "--cc", "none,dcqcn", "--out", passes)
    all_of_them = {"run": run, "one": one, "passes": passes, "compare": compare, "vary": vary, "sizes": sizes,
                   "sweep": sweep(os.path.join(tmp, "sweep")), "jobs": sweep_of_jobs(os.path.join(tmp, "jobs"))}
    for folder in (run, one, all_of_them["sweep"], all_of_them["jobs"]):
        collwire("report", folder)
    return {kind: os.path.join(folder, "report.html") for kind, folder in all_of_them.items()}


# ---- what every page does ----

def every_page(page, kind, path):
    size = os.path.getsize(path)
    expect(size < LIMIT, f"{kind}: {size} bytes")
    for width, scheme in ((1200, "light"), (1200, "dark"), (360, "light"), (360, "dark")):
        page.errors.clear()
        page.requests.clear()
        page.resize(width, 900)
        page.scheme(scheme)
        page.open(path)
        what = f"{kind}, {width} px, {scheme}"
        expect(page.errors == [], f"{what}: {page.errors}")
        expect(page.requests == ["file://" + path], f"{what}: requests {page.requests}")
        wide = page.run("document.documentElement.scrollWidth")
        expect(wide <= width, f"{what}: the page is {wide} px wide")
        expect(page.run("document.documentElement.dataset.theme") == scheme, f"{what}: theme")
        expect(page.run("document.querySelector('h1').textContent.length > 10"), f"{what}: headline")
    empty = page.run("[...document.querySelectorAll('.plot')].filter(p => !p.querySelector('svg, canvas')).length")
    expect(empty == 0, f"{kind}: {empty} charts are empty")
    bare = page.run("[...document.querySelectorAll('.plot')].filter(p => p.tabIndex !== 0 || !p.getAttribute('aria-label')"
                    " || !p.parentElement.querySelector('details.data')).length")
    expect(bare == 0, f"{kind}: {bare} charts without label, focus or table")
    tables(page, kind)
    clipped(page, kind)


def tables(page, kind):
    """Every table behind a chart opens and has rows."""
    wrong = page.run("""[...document.querySelectorAll('details.data')].map(d => { d.open = true; d.fill(); return d; })
        .filter(d => !d.querySelector('tbody tr') || !d.querySelector('caption').textContent)
        .map(d => d.parentElement.textContent.slice(0, 60))""")
    expect(wrong == [], f"{kind}: empty tables: {wrong}")
    words = page.run("document.body.textContent")
    for word in ("NaN", "undefined", "[object", "Infinity"):
        expect(word not in words, f"{kind}: \"{word}\" on the page")


def clipped(page, kind):
    """No text of a chart lies outside of its plot."""
    outside = page.run("""[...document.querySelectorAll('.plot svg')].flatMap(svg => {
        const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].filter(t => t.getBoundingClientRect().width > 0 && !t.closest('[clip-path]')).filter(t => {
            const b = t.getBoundingClientRect();
            return b.left < box.left - 2 || b.right > box.right + 2 || b.bottom > box.bottom + 2;
        }).map(t => t.textContent);
    })""")
    expect(outside == [], f"{kind}: texts outside of their charts: {outside[:5]}")


def theme_and_paper(page, kind, path, pdf):
    page.resize(1200, 900)
    page.scheme("light")
    page.open(path)
    page.run("document.querySelector('button.theme').click()")
    expect(page.run("document.documentElement.dataset.theme") == "dark", f"{kind}: the button switches to dark")
    page.run("dispatchEvent(new Event('beforeprint'))")
    expect(page.run("document.documentElement.dataset.theme") == "light", f"{kind}: paper is light")
    wide = page.run("Math.max(...[...document.querySelectorAll('.plot svg, .plot canvas')].map(d => d.getBoundingClientRect().width))")
    expect(wide <= 680, f"{kind}: charts on paper are {wide} px wide")
    page.run("dispatchEvent(new Event('afterprint'))")
    expect(page.run("document.documentElement.dataset.theme") == "dark", f"{kind}: dark again after printing")
    page.pdf(pdf)
    expect(os.path.getsize(pdf) > 20_000, f"{kind}: PDF")


# ---- a comparison ----

def option(page, plot, path):
    return page.run(f"document.querySelector('{plot}').chart.instance.getOption().{path}")


def centre(page, element):
    page.run(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    return page.run(f"(() => {{ const b = {element}.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }})()")


def legend(page):
    """A click on a name in the legend hides its line."""
    plot = "#messages .plot"
    item = f"[...document.querySelectorAll('{plot} text')].find(t => t.textContent === 'swift')"
    page.click(*centre(page, item))
    page.wait(f"document.querySelector('{plot}').chart.instance.getOption().legend[0].selected.swift === false")
    page.click(*centre(page, item))
    page.wait(f"document.querySelector('{plot}').chart.instance.getOption().legend[0].selected.swift === true")


def zoom(page):
    """Keys and Ctrl with the wheel zoom; 0 shows all."""
    plot = "#series .plot"
    span = f"(z => z.end - z.start)(document.querySelector('{plot}').chart.instance.getOption().dataZoom[0])"
    page.run(f"document.querySelector('{plot}').focus()")
    page.key("+")
    page.wait(f"{span} < 51")
    page.key("0")
    page.wait(f"{span} > 99")
    x, y = centre(page, f"document.querySelector('{plot}')")
    page.mouse("mouseMoved", x, y)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240, modifiers=2)
    page.wait(f"{span} < 99")
    page.key("0")
    page.wait(f"{span} > 99")


def tooltip(page):
    """The tooltip of a dot has the policy and its time, as the table has it."""
    plot = "#policies .plot"
    at = page.run(f"""(() => {{
        const p = document.querySelector('{plot}'), c = p.chart.instance;
        const dot = c.getOption().series[2].data.find(d => d.value[1] === 3);
        const [x, y] = c.convertToPixel({{ seriesIndex: 1 }}, dot.value), b = p.getBoundingClientRect();
        return [b.left + x, b.top + y];
    }})()""")
    page.mouse("mouseMoved", at[0] - 3, at[1])
    page.mouse("mouseMoved", *at)
    page.wait(f"document.querySelector('{plot}').textContent.includes('seed 1')")
    text = page.run(f"document.querySelector('{plot}').textContent")
    time = page.run("[...document.querySelectorAll('#policies table')].pop().rows[4].cells[1].textContent")
    expect("dcqcn" in text and time in text, f"tooltip: {time!r} in {text[-80:]!r}")


def saved(page):
    """The buttons of a chart make an SVG, a PNG and a CSV, whatever the theme is."""
    page.run("""(() => { window.saved = []; URL.createObjectURL = (blob) => { window.saved.push(blob); return '#'; };
        HTMLAnchorElement.prototype.click = function () { window.names = [...(window.names || []), this.download]; }; })()""")
    for button in (0, 1, 2):
        page.run(f"document.querySelectorAll('#messages .save')[0].querySelectorAll('button')[{button}].click()")
        page.wait(f"window.saved.length === {button + 1}")
    names = page.run("window.names")
    stem = "rail-messages.slowdown-Slowdown-several-dimensions"
    expect(names == [f"{stem}.{ending}" for ending in ("svg", "png", "csv")], f"names of saved files: {names}")
    svg, table = (page.run(f"window.saved[{i}].text()") for i in (0, 2))
    expect(svg.startswith("<svg") and 'width="85mm"' in svg and ">swift</text>" in svg and "fill:#000" in svg.replace(" ", "")
           or 'fill="#000"' in svg, f"a saved SVG: {svg[:200]}")
    # in black and white a line is told by its symbol, which the legend must have too
    symbols = {colour: shape for shape, colour in re.findall(r'<path d="([^"]+)" transform="translate[^"]+" fill="(#[^"]+)"', svg)
               if colour not in ("#000", "none")}
    expect(len(symbols) >= 5 and len(set(symbols.values())) == len(symbols), f"symbols of the legend: {symbols}")
    expect(table.startswith("scenario,policy,slowdown,share_of_messages_up_to_it,dimension\nrail,none,"), f"a saved CSV: {table[:90]}")
    expect(page.run("window.saved[1].type") == "image/png" and page.run("window.saved[1].size") > 10000, "a saved PNG")


def colours_of_policies(page):
    """A policy has the colour of the table that studies use too."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "report", "web", "src",
                           "policy-styles.json"), encoding="utf-8") as f:
        known = {start: light for start, light, *_ in json.load(f)}
    drawn = page.run("document.querySelector('#messages .plot').chart.instance.getOption().series.map(s => [s.name, s.color])")
    expect(drawn and all(colour == known[name] for name, colour in drawn), f"colours of policies: {drawn}")


def folded(page):
    """Links stand by load, and tiers of little use are one line with their number."""
    first = page.run("(o => o.series[0].data.map(d => d.value[2]))(document.querySelector('#links .plot').chart.instance.getOption())")
    expect(first[0] == max(first) and first == sorted(first, reverse=True), "the busiest link is the first")
    scale = option(page, "#links .plot", "visualMap[0].max")
    expect(scale == max(first), f"the darkest colour is that of the busiest link: {scale}, {max(first)}")
    line = page.run("document.querySelector('#links details:not(.data) summary').textContent")
    expect("more links in" in line and "below 10" in line, f"folded tiers: {line}")


def ticks(page):
    """Labels of an axis of ratios have the digits that they need."""
    labels = page.run("(f => [1.000020032, 1.5, 20, 123.456789].map(v => f(v)))"
                      "(document.querySelector('#messages .plot').chart.instance.getOption().xAxis[0].axisLabel.formatter)")
    expect(labels == ["1", "1.5", "20", "123.5"], f"labels of slowdowns: {labels}")


def comparison(page, path):
    page.resize(1200, 900)
    page.scheme("light")
    page.open(path)
    page.run("window.scrollTo(0, 0)")
    headline = page.run("document.querySelector('h1').textContent")
    worst = page.run("document.querySelector('#why h3').textContent")
    expect("all-reduce" in headline and worst in headline, f"headline {headline!r}, explained {worst!r}")
    tooltip(page)
    legend(page)
    zoom(page)
    colours_of_policies(page)
    tail(page)
    page.run("(s => { s.value = 'up'; s.dispatchEvent(new Event('change')); })(document.querySelector('#messages select'))")
    ticks(page)
    folded(page)
    saved(page)
    # another policy, chosen once, for all sections
    page.run("(s => { s.value = '0'; s.dispatchEvent(new Event('change')); })(document.querySelector('#links select:last-of-type'"
             ") && [...document.querySelectorAll('#links select')].pop())")
    expect(page.run("document.querySelector('#why h3').textContent") == "none", "the reasons follow the chosen policy")
    expect(page.run("[...document.querySelectorAll('#pauses select')].pop().value") == "0", "and so do the other choices")
    expect(page.run("document.querySelectorAll('#links .plot svg, #links .plot canvas').length > 3"), "maps of links")
    # another metric
    name = page.run("(s => { s.value = 'max_queue_bytes'; s.dispatchEvent(new Event('change'));"
                    "return s.selectedOptions[0].textContent; })(document.querySelector('#policies select'))")
    expect(name in page.run("document.querySelector('#policies .plot').getAttribute('aria-label')"), "dots of the chosen metric")
    expect(page.errors == [], f"comparison: {page.errors}")


def variants(page, path):
    """The rows of `compare --vary` have their values as names, and are not called policies."""
    page.resize(1200, 900)
    page.open(path)
    page.run("document.querySelectorAll('details.data').forEach(d => { d.open = true; d.fill(); })")
    expect(page.run("document.querySelector('#policies h2').textContent") == "Variants", "the section of the variants")
    rows = page.run("[...[...document.querySelectorAll('#policies table')].pop().querySelectorAll('tbody tr')]"
                    ".map(r => r.cells[0].textContent)")
    expect(rows == [f"{size}, {cc}" for size in ("100KB", "200KB") for cc in ("none", "dcqcn")], f"variants: {rows}")
    ratios = page.run("document.querySelector('#policies').textContent")
    expect("100KB, none" in ratios and "vs" in ratios, "ratios to the baseline")
    expect("comparison of workload.bytes" in page.run("document.body.textContent"), "the varied key")
    expect(page.errors == [], f"variants: {page.errors}")


# ---- a sweep ----

def choose(page, caption, value):
    page.run(f"""(() => {{
        const label = [...document.querySelectorAll('.axes label')].find(l => l.textContent === '{caption}');
        const input = document.getElementById(label.htmlFor);
        input.focus();
        input.value = '{value}';
        input.dispatchEvent(new Event('change'));
    }})()""")


def axes(page):
    return page.run("""[...document.querySelectorAll('.axes .control')].slice(1)
        .map(c => c.querySelector('select').value)""")


def swept(page, path):
    page.resize(1200, 900)
    page.scheme("light")
    page.open(path)
    headline = page.run("document.querySelector('h1').textContent")
    expect("workload.senders" in headline and "factor of 8.0" in headline and "1 run did not complete" in headline,
           f"headline of the sweep: {headline}")
    expect(axes(page) == ["workload.senders", "cc.kind", "switch.buffer"], f"axes at first: {axes(page)}")
    # the value of dcqcn with 8 senders and any buffer: 24 us
    value = page.run("(o => o.series[0].data.find(d => d.value[0] === 1 && d.value[1] === 1).value[2])"
                     "(document.querySelector('#sweep .plot').chart.instance.getOption())")
    expect(value == 24000.5, f"a cell is the mean over seeds: {value}")
    choose(page, "Across", "cc.kind")
    expect(axes(page) == ["cc.kind", "workload.senders", "switch.buffer"], f"axes change places: {axes(page)}")
    names = option(page, "#sweep .plot", "xAxis[0].data")
    expect(names == ["none", "dcqcn", "swift"], f"across: {names}")
    multiples = page.run("document.querySelectorAll('#sweep .multiples:first-of-type .plot').length")
    expect(multiples == 3, f"{multiples} small multiples")
    choose(page, "Small multiples", "–")
    expect(page.run("document.querySelectorAll('#sweep .multiples').length") == 0, "no small multiples")
    choose(page, "switch.buffer", "1")
    choose(page, "Metric", "max_queue_bytes")
    expect("longest queue" in page.run("document.querySelector('#sweep h3').textContent"), "another metric")
    expect(page.run("document.activeElement.tagName") == "SELECT", "the focus stays on the choices")
    expect(page.errors == [], f"sweep: {page.errors}")


def swept_sizes(page, path):
    """Sizes are drawn log-log in bus bandwidth, each at its value, with the interval over seeds."""
    page.resize(1200, 900)
    page.scheme("light")
    page.open(path)
    expect(page.run("document.querySelector('.axes select').value") == "busbw_bps", "a sweep of sizes begins with busbw")
    plot = page.run("[...document.querySelectorAll('#sweep .plot')].map(p => p.chart.name)").index("sweep.lines")
    found = page.run("(o => [o.xAxis[0].type, o.yAxis[0].type, o.series.map(s => s.type), o.series[0].data])"
                     f"(document.querySelectorAll('#sweep .plot')[{plot}].chart.instance.getOption())")
    expect(found[:2] == ["log", "log"] and found[2] == ["line", "custom"] * 2, f"log-log with intervals: {found[:3]}")
    expect([x for x, _ in found[3]] == [1024, 32768, 1048576], f"sizes: {found[3]}")
    with open(path, encoding="utf-8") as f:
        text = f.read().split('id="data">', 1)[1].split("</script>", 1)[0]
    known = json.loads(text)["sweep"]["intervals"]["busbw_bps"]
    drawn = page.run(f"document.querySelectorAll('#sweep .plot')[{plot}].chart.instance.getOption().series[1].data")
    expect([d[1:3] for d in drawn] == [known[str(i)] for i in (0, 5, 10)], f"intervals: {drawn} {known}")
    expect("95 % interval" in page.run("document.querySelector('#sweep .lede').textContent"), "what the bars are")
    words = page.run("document.querySelector('#why li').textContent")
    expect("along workload.bytes: up to" in words and "algorithm" in words, f"why: {words}")


def swept_jobs(page, path):
    """Rows of jobs are not runs, and what is best is said of each job: the run ends with the last one."""
    page.resize(1200, 900)
    page.open(path)
    head = page.run("document.querySelector('header').textContent")
    expect("4 runs" in head and "12 runs" not in head, f"runs of a sweep: {head}")
    rows = page.run("document.querySelector('#sweep > details summary').textContent")
    expect(rows == "All 4 runs, and their jobs in 8 rows", f"rows of a sweep: {rows}")
    said = page.run("document.querySelector('h1').textContent")
    expect(said == "The jobs disagree: where ckpt is shortest, train takes 1.3 times its own shortest time.", f"headline: {said}")
    jobs = page.run("[...document.querySelectorAll('#answer li')].map(e => e.textContent.replaceAll('\\u00a0', ' '))")
    expect(jobs == ["train: switch.buffer changes its time by up to 38 %, switch.ecn.kmin by up to 3 %. Shortest: 4.40 ms with "
                    "switch.buffer = 1MB. Longest: 6.08 ms with switch.buffer = 2MB and switch.ecn.kmin = 20KB.",
                    "ckpt: switch.buffer changes its time by up to 3 %; switch.ecn.kmin does not matter. Shortest: 11.7 ms with "
                    "switch.buffer = 2MB. Longest: 12.1 ms with switch.buffer = 1MB."], f"jobs of a sweep: {jobs}")
    title = page.run("document.querySelector('#sweep h3').textContent")
    expect(title == "Heat map of the time of train in ms", f"the charts begin with a job: {title}")
    drawn = page.run("document.querySelector('#sweep .plot').chart.instance.getOption().series[0].data.map(d => d.value[2])")
    expect(sorted(drawn) == [4400000, 4400000, 5900000, 6080000], f"times of train: {drawn}")
    # 11.7 to 12.1 ms are nearly the same: no cell is dark
    choose(page, "job", "2")
    low, high, most = page.run("(o => [o.visualMap[0].min, o.visualMap[0].max, Math.max(...o.series[0].data.map(d => d.value[2]))])"
                               "(document.querySelector('#sweep .plot').chart.instance.getOption())")
    expect(low == 11700000 and most == 12100000 and (most - low) / (high - low) < 0.8, f"colours of a map: {low} to {high}, most {most}")
    expect(page.errors == [], f"sweep of jobs: {page.errors}")


def iterations(page, one, passes):
    """No sum over all iterations beside times of one; and a run has a line of messages for each dimension, a comparison a chart."""
    page.open(passes)
    columns = page.run("[...[...document.querySelectorAll('#policies table')].pop().tHead.rows[0].cells].map(c => c.textContent)")
    expect(columns[:4] == ["policy", "iteration", "vs none", "exposed"] and not {"training", "exposed communication"} & set(columns)
           and not any("of the training job" in name for name in columns), f"columns beside an iteration: {columns}")
    marked = page.run("[...[...document.querySelectorAll('#policies table')].pop().tBodies[0].rows]"
                      ".map(r => [...r.cells].map(c => c.className.includes('best')))")
    both = [name for name, *cells in zip(columns, *marked) if all(cells)]
    expect(any(marked[0]) and not both, f"columns in which all policies are best: {both}")
    # a reason saves what an iteration would be shorter, as the column has the time of one
    with open(passes, encoding="utf-8") as f:
        data = json.loads(f.read().split('id="data">', 1)[1].split("</script>", 1)[0])
    known = next(run for run in data["runs"] if run["policy"] == "dcqcn")["metrics"]["reasons"][0]
    said = page.run("[...document.querySelectorAll('#why li')].map(e => e.textContent.replaceAll('\\u00a0', ' '))")
    found = [re.search(r"up to ([\d.]+ [a-zµ]+) shorter an iteration", s) for s in said if "dcqcn cut" in s]
    number, unit = found[0].group(1).split() if found and found[0] else ("0", "ms")
    ns = float(number) * {"ms": 1e6, "µs": 1e3}[unit]
    expect(abs(ns - known["saving_ns"] / 3) < 0.01 * ns, f"the saving of an iteration: {known['saving_ns']} of three, {said[:3]}")
    titles = "[...document.querySelectorAll('#messages figcaption')].map(c => c.textContent)"
    first = page.run(titles)
    expect(first == ["Slowdown, dimension 1: leaf_spine of 2", "Completion time, dimension 1: leaf_spine of 2"],
           f"charts of messages begin with the outermost dimension: {first}")
    dim = "(s => { s.value = '%s'; s.dispatchEvent(new Event('change')); })([...document.querySelectorAll('#messages select')][1])"
    page.run(dim % "all")
    expect(page.run(titles) == ["Slowdown", "Completion time"], "all messages together")
    page.run(dim % "each")
    titles = page.run(titles)
    names = ["dimension 0: switch of 8", "dimension 1: leaf_spine of 2", "several dimensions"]
    expect(titles == [f"{what}, {name}" for name in names for what in ("Slowdown", "Completion time")], f"charts of messages: {titles}")
    page.open(one)
    expect(page.run("[...document.querySelectorAll('#messages figcaption')].length") == 2, "charts of messages of a run")
    drawn = page.run("document.querySelector('#messages .plot').chart.instance.getOption().series.map(s => [s.name, s.color, s.lineStyle.type])")
    expect([line[0] for line in drawn] == names and len({line[1] for line in drawn}) == len({str(line[2]) for line in drawn}) == 3,
           f"lines of dimensions: {drawn}")
    labels = page.run("[...document.querySelectorAll('dl.figures dt')].map(e => e.textContent)")
    expect("exposed communication of an iteration" in labels and "exposed communication of the training job" in labels, f"{labels}")
    layers = page.run("[...document.querySelectorAll('#time figcaption')].map(c => c.textContent)")
    expect("Layers, sum of the 3 iterations" in layers, f"charts of time: {layers}")


def tail(page):
    """The share of slow messages on a logarithmic axis."""
    page.run("(s => { s.value = 'tail'; s.dispatchEvent(new Event('change')); })(document.querySelector('#messages select'))")
    drawn = page.run("(o => [o.yAxis[0].type, o.series[0].data])(document.querySelector('#messages .plot').chart.instance.getOption())")
    shares = [share for _, share in drawn[1]]
    expect(drawn[0] == "log" and shares[0] == 1 and shares == sorted(shares, reverse=True) and shares[-1] > 0, f"the tail: {drawn[0]} {shares[-3:]}")


def timeline(page, path):
    page.resize(1200, 900)
    page.scheme("light")
    page.open(path)
    expect("training" in page.run("document.querySelector('h1').textContent"), "headline of a training job")
    rows = option(page, "#timeline .plot", "yAxis[0].data")
    expect(rows[:3] == ["critical path layers", "rank0 loop", "rank0 dim0"] and len(rows) >= 17,
           f"rows of the timeline: {rows[:4]}")
    expect(page.run("document.querySelectorAll('#why ol li').length") > 0, "reasons as an ordered list")
    points = page.run("document.querySelector('#messages .plot').chart.instance.getOption().series[0].data.length")
    expect(points > 50, f"the distribution of messages that are not listed has {points} points")
    expect(page.run("document.querySelector('#scenario pre').textContent.includes('\"topology\"')"), "scenario")


def main():
    scenarios, template, quick = sys.argv[1], sys.argv[2], sys.argv[3:] == ["quick"]
    if not browser.find_browser() or not os.path.exists(template):
        print("skipped: Chromium is not installed")
        return 77
    with tempfile.TemporaryDirectory() as tmp:
        paths = {"compare": os.path.join(comparison_report(tmp, scenarios), "report.html")} if quick else reports(tmp, scenarios)
        with browser.Browser() as page:
            for kind, path in ((k, p) for k, p in paths.items() if k not in ("one", "passes")): # whose sections the others have
                every_page(page, kind, path)
                theme_and_paper(page, kind, path, os.path.join(tmp, f"{kind}.pdf"))
            comparison(page, paths["compare"])
            for check, kinds in (() if quick else (
                    (variants, ["vary"]), (swept, ["sweep"]), (swept_sizes, ["sizes"]), (swept_jobs, ["jobs"]), (timeline, ["run"]),
                    (iterations, ["one", "passes"]))):
                check(page, *(paths[kind] for kind in kinds))
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
