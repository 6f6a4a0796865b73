# SPDX-License-Identifier: MIT
"""Plugins, built outside of the tree against an installation: the example in every command, each built-in
policy as a plugin gives the same bytes, and broken plugins are refused or named.

usage: check_plugins.py SOURCE_DIR BUILD_DIR
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
FAILURES = []
WORK = pathlib.Path(tempfile.mkdtemp(prefix="plugins"))
PREFIX = WORK / "prefix"


def expect(holds, what):
    if not holds:
        FAILURES.append(what)
        print("FAILED:", what)


def run(*args, **options):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False, cwd=WORK, **options)
    return done.returncode, done.stdout, done.stderr


def collwire(*args):
    return run(PREFIX / "bin" / "collwire", *args)


def compile_plugin(name, *sources, flags=()):
    out = WORK / f"{name}.so"
    code, _, stderr = run(os.environ.get("CC", "cc"), "-std=c11", "-O2", "-Wall", "-Wextra", "-ffp-contract=off", "-shared", "-fPIC",
                          f"-I{PREFIX}/include", *flags, *sources, "-o", out, "-lm")
    if code != 0:
        sys.exit(f"{name} does not build:\n{stderr}")
    return out


def write(name, text):
    path = WORK / name
    path.write_text(text)
    return path


INCAST = {"name": "incast", "topology": {"dims": [{"kind": "switch", "size": 5, "link": {"rate": "100Gbps", "delay": "1us"}}]},
          "switch": {"buffer": "1MB"}, "workload": {"kind": "incast", "senders": 4, "receiver": 4, "bytes": "200KB"}}
TCP = dict(INCAST, transport={"kind": "tcp", "rto_min": "1ms"}, switch={"queue_limit": {"packets": 60}})
UEC = dict(INCAST, transport={"kind": "uec"}, switch={"buffer": "1MB", "trimming": {"enabled": True}})


# ---- the example ----

def check_example_of_sources():
    """The example builds without an installation where the sources are named; without both one line says what to do."""
    folder = WORK / "of-sources"
    shutil.copytree(SOURCE / "examples" / "policy", folder)
    environment = {key: value for key, value in os.environ.items() if key != "COLLWIRE"}
    environment["PKG_CONFIG_LIBDIR"] = str(WORK / "nowhere")
    def make(*words):
        return subprocess.run(["make", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    done = make("all")
    expect(done.returncode == 2 and done.stderr.count("\n") == 1 and "SOURCES=FOLDER" in done.stderr, f"no headers: {done.stderr}")
    done = make("test", f"SOURCES={SOURCE}", f"COLLWIRE={PREFIX}/bin/collwire")
    expect(done.returncode == 0 and re.search(r"^aimd +\d", done.stdout, re.M), f"of the sources: {done.stdout} {done.stderr}")
    expect(make("clean").returncode == 0 and not (folder / "aimd.so").exists(), "clean needs no headers")


def check_example():
    folder = WORK / "policy"
    shutil.copytree(PREFIX / "share" / "collwire" / "examples" / "policy", folder)
    environment = dict(os.environ, PKG_CONFIG_PATH=f"{PREFIX}/lib/pkgconfig", PATH=f"{PREFIX}/bin:{os.environ['PATH']}")
    done = subprocess.run(["make", "test"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and re.search(r"^aimd +\d", done.stdout, re.M), f"make test: {done.stdout} {done.stderr}")
    plugin, scenario = folder / "aimd.so", folder / "incast.json"
    code, stdout, stderr = collwire("validate", scenario)
    expect(code == 2 and "plugins[0]: \"aimd.so\" is code" in stderr and "--allow-plugins" in stderr, f"not allowed: {stderr}")
    code, stdout, stderr = collwire("list", "cc", "--cc-plugin", plugin)
    expect(code == 0 and "aimd" in stdout, f"list: {stderr}")
    code, stdout, stderr = collwire("list", "cc", "aimd", "--cc-plugin", plugin)
    expect(code == 0 and "share of the window that a cut leaves" in stdout, f"list aimd: {stderr}")
    code, stdout, stderr = collwire("generate", "schema", "--cc-plugin", plugin)
    kinds = [one["properties"]["kind"]["const"] for one in json.loads(stdout)["$defs"]["cc"]["oneOf"]]
    expect(code == 0 and kinds[-1] == "aimd", f"schema: {kinds}")
    plain = write("plain.json", json.dumps(INCAST))
    code, stdout, stderr = collwire("validate", plain, "--cc-plugin", plugin, "--set", "cc.kind=aimd", "--set", "cc.beta=2")
    expect(code == 2 and "cc.beta" in stderr, f"range: {stderr}")
    code, stdout, stderr = collwire("run", plain, "--set", "cc.kind=aimd", "--out", "o")
    expect(code == 2 and "cc.kind: unknown policy \"aimd\"" in stderr, f"without it: {stderr}")
    # twice: by the scenario and by the command line; and what run.json says
    code, stdout, stderr = collwire("run", scenario, "--allow-plugins", "--cc-plugin", plugin, "--out", "twice", "--quiet")
    expect(code == 0, f"named twice: {stderr}")
    facts = json.loads((WORK / "twice" / "run.json").read_text())["plugins"]
    expect(len(facts) == 1 and facts[0]["file"] == str(plugin) and len(facts[0]["sha256"]) == 64, f"run.json: {facts}")
    code, stdout, stderr = collwire("compare", plain, "--cc", "all", "--cc-plugin", plugin, "--out", "all")
    expect(code == 0 and re.search(r"^aimd +\d", stdout, re.M) and re.search(r"^hpcc +\d", stdout, re.M), f"compare: {stderr}")
    # a sweep computes again what another version of the plugin has computed
    sweep = ("sweep", plain, "--cc", "aimd,none", "--cc-plugin", plugin, "--out", "sweep")
    first = collwire(*sweep)
    again = collwire(*sweep)
    source = (folder / "aimd.c").read_text().replace('.def = "1",', '.def = "50",')
    shutil.copy(compile_plugin("other", write("other.c", source)), plugin)
    other = collwire(*sweep)
    expect([one[0] for one in (first, again, other)] == [0, 0, 0], f"sweep: {first[2]} {again[2]} {other[2]}")
    aimd = [re.search(r"^aimd .*", one[1], re.M)[0] for one in (first, again, other)]
    expect(aimd[0] == aimd[1] != aimd[2], f"sweep with another plugin: {aimd}")


# ---- built-in policies as plugins ----

def check_built_in():
    registry = (SOURCE / "cc" / "registry.c").read_text()
    names = re.findall(r"^    &cc_(\w+),", registry, re.M)
    shared = [path for path in sorted((SOURCE / "cc").glob("*.c"))
              if path.stem not in names and path.stem not in ("cc", "check_policy", "catalogue", "registry")]
    transports = {"newreno": TCP, "cubic": TCP, "nscc": UEC, "rccc": UEC, "nscc_rccc": UEC}
    plugins = []
    for name in names:
        text = (SOURCE / "cc" / f"{name}.c").read_text()
        text, n = re.subn(rf'\.name = "{name}"', f'.name = "{name}_p"', text)
        expect(n == 1, f"{name}: {n} names")
        source = write(f"{name}_p.c", f"{text}\nCOLLWIRE_PLUGIN(&cc_{name});\n")
        plugins.append((name, compile_plugin(f"{name}_p", source, *shared, flags=[f"-I{SOURCE}"])))
    for name, plugin in plugins:
        scenario = write("built_in.json", json.dumps(transports.get(name, INCAST)))
        texts = []
        for kind, more in ((name, ()), (f"{name}_p", ("--cc-plugin", plugin))):
            out = WORK / kind
            code, _, stderr = collwire("run", scenario, "--set", f'cc={{"kind": "{kind}"}}', "--set", "report.sample=5us",
                                       "--out", out, "--quiet", *more)
            expect(code == 0, f"{kind}: {code} {stderr}")
            texts.append((out / "metrics.json").read_text() + (out / "series.csv").read_text() if code == 0 else kind)
        expect(texts[0] == re.sub(rf"\b{name}_p\b", name, texts[1]), f"{name}: other bytes as a plugin")


# ---- broken plugins ----

GOOD = r"""
#include <collwire/cc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
struct params { double share; };
static const struct param rows[] = {{.name = "share", .type = PARAM_RATIO, .offset = 0, .def = DEF, .min = "0.1", .max = "1",
                                     .help = "of the line"}};
static bool in_run(const struct cc *cc) { return cc->env->hops == 2 && cc->env->mtu_bytes == 4096; } // not in the trial
static volatile unsigned long counter;
static int recurse(volatile int n) { volatile char room[4096]; room[0] = (char)n; return n < 0 ? 0 : recurse(n + 1) + room[0]; }
static void init(struct cc *cc, ps_t now) { (void)now; cc->cwnd_bytes = cc_window_bytes(cc->env, 2); }
static void on_ack(struct cc *cc, const struct cc_ack *ack) { (void)cc; (void)ack; (void)in_run; (void)recurse; counter++; ACK }
static void on_timer(struct cc *cc, unsigned t, ps_t now) { (void)cc; (void)t; (void)now; }
static const char *const names[] = {SEEN, NULL};
static const char *check(const void *p) { (void)p; (void)exit; CHECK return NULL; }
static size_t observe(const struct cc *cc, double *out, size_t cap) { (void)cc; out[0] = OBSERVE; return cap > 0; }
static const struct cc_preset_value values[] = {{PARAM, "0.5"}};
static const struct cc_preset presets[] = {{.name = "default", .doc = "the only one", .values = values, .n_values = 1 PRESET}};
static const struct cc_ops ops = {.contract = CONTRACT, .name = NAME, .doc = "for tests", .paper = "none",
    .params = rows, .n_params = 1, .params_bytes = sizeof(struct params), .priv_bytes = PRIV, .presets = presets, .n_presets = 1,
    .init = INIT, .on_ack = on_ack, .on_timer = on_timer, .observe = observe, .observed = names, .check = check};
MORE
EXPORT
"""
DEFAULTS = {"DEF": '"0.5"', "ACK": "", "OBSERVE": "1", "PARAM": '"share"', "CONTRACT": "CC_CONTRACT", "NAME": '"bad"',
            "PRIV": "16", "INIT": "init", "SEEN": '"x"', "CHECK": "", "PRESET": "", "MORE": "", "EXPORT": "COLLWIRE_PLUGIN(&ops);"}

# what is changed, what the message says, and the exit code: of validate, or of run where validate accepts it
REFUSED = [
    ("no_symbol", {"EXPORT": "extern const struct cc_ops *exported; const struct cc_ops *exported = &ops;"}, "it has no symbol collwire_plugin", 2),
    ("undefined", {"ACK": "extern char *memory_text(const char *); memory_text(\"x\");", "MORE": ""}, "undefined symbol: memory_text", 2),
    ("other_plugin_version", {"EXPORT": "static const struct cc_ops *const all[] = {&ops}; extern const struct cc_plugin collwire_plugin; "
                              "const struct cc_plugin collwire_plugin = {CC_VERSION + 1, sizeof(struct cc_plugin), all, 1};"},
     "is of version 11 of the contract, here it is version 10", 2),
    ("other_contract", {"CONTRACT": "{.version = CC_VERSION - 1}"}, "is of version 9 of the contract, here it is version 10", 2),
    ("other_sizes", {"CONTRACT": "{.version = CC_VERSION, .ops_bytes = sizeof(struct cc_ops), .cc_bytes = 8}"},
     "was compiled for a struct cc of 8 bytes", 2),
    ("no_policies", {"EXPORT": "extern const struct cc_plugin collwire_plugin; const struct cc_plugin collwire_plugin = "
                     "{CC_VERSION, sizeof(struct cc_plugin), NULL, 1}; const void *unused = &ops; extern const void *unused;"},
     "its struct cc_plugin is not sound", 2),
    ("null_policy", {"EXPORT": "COLLWIRE_PLUGIN(&ops, NULL);"}, "policy: is NULL", 2),
    ("name_exists", {"NAME": '"dcqcn"'}, "dcqcn: there is already a policy of this name", 2),
    ("same_name_twice", {"EXPORT": "COLLWIRE_PLUGIN(&ops, &ops);"}, "bad: there is already a policy of this name", 2),
    ("bad_name", {"NAME": '"Bad Name"'}, "its name must be lower-case letters", 2),
    ("default_out_of_range", {"DEF": '"2"'}, "bad.share: 2 is above the maximum", 2),
    ("unknown_in_preset", {"PARAM": '"shore"'}, "preset default sets an unknown parameter", 2),
    ("bad_scope", {"PRESET": ", .notification = {.scope = 77}"}, "preset default: its notification is not sound", 2),
    ("bad_marks", {"PRESET": ", .profile = {.ecn = true, .kmin_bytes = 5, .kmax_bytes = 4, .pmax = 1}"}, "marks need kmin up to kmax", 2),
    ("bad_observed", {"SEEN": '"a,b"'}, "names of observed values must be words", 2),
    ("no_preset_name", {"PRESET": ", .name = NULL"}, "a preset needs a name", 2),
    ("exits_in_check", {"CHECK": "exit(0);"}, "called exit() when it was loaded", 1),
    ("crash_in_check", {"CHECK": "*(volatile int *)8 = 1;"}, "crashed (segmentation fault)", 1),
    ("no_init", {"INIT": "NULL", "MORE": "void *use_init(void); void *use_init(void) { return (void *)init; }"}, "has no init()", 2),
    ("large_state", {"PRIV": "5000"}, "5000 bytes of state a flow are more than 4096", 2),
    ("rate_zero", {"ACK": "cc->rate_bps = 0;"}, "refused in a trial: policy bad of plugin", 2),
    ("rate_nan", {"ACK": "cc->rate_bps = (uint64_t)(sqrt(-1.0 - (double)counter) * 1e9);"}, "set a rate of ", 2),
    ("small_window", {"ACK": "cc->cwnd_bytes = 1;"}, "less than a packet of 4096 B, at the line's rate", 2),
    ("timer_in_the_past", {"ACK": "cc->timer_at_ps[0] = ack->now_ps - PS_PER_US;"}, "which is not 1 ns ahead", 2),
    ("observed_nan", {"OBSERVE": "nan(\"\")"}, "observe() returned a value that is no finite number", 2),
    ("overrun", {"ACK": "memset(cc->priv, 0, 24);"}, "wrote beyond its 16 bytes of private state", 2),
    ("crash_when_loaded", {"MORE": "__attribute__((constructor)) static void begin(void) { *(volatile int *)8 = 1; }"},
     "crashed (segmentation fault) when it was loaded", 1),
    ("crash_in_trial", {"ACK": "*(volatile int *)8 = 1;"}, "policy bad crashed (segmentation fault) in on_ack()", 1),
    ("divides", {"ACK": "volatile int zero = 0; counter = (unsigned long)(100 / zero);"}, "policy bad crashed (arithmetic error) in on_ack()", 1),
    ("aborts", {"ACK": "abort();"}, "policy bad crashed (aborted) in on_ack()", 1),
    ("exits", {"ACK": "exit(0);"}, "policy bad called exit() in on_ack()", 1),
    ("exits_quickly", {"ACK": "_exit(0);"}, "policy bad called _exit() in on_ack()", 1),
    ("recurses", {"ACK": "recurse(1);"}, "policy bad crashed (segmentation fault) in on_ack()", 1),
    ("hangs", {"ACK": "for (;;) counter++;"}, "policy bad has not returned for 3 s of CPU time in on_ack()", 1),
]
IN_RUN = [
    ("run_rate_zero", {"ACK": "if (in_run(cc)) cc->rate_bps = 0;"}, "on_ack() set a rate of 0, at ", True),
    ("run_timer", {"ACK": "if (in_run(cc)) cc->timer_at_ps[1] = ack->now_ps;"}, "on_ack() set timer 1 to ", True),
    ("run_check", {"CHECK": "if (*(const double *)p < 0.3) exit(0);"}, "policy bad called exit() in check()", False),
    ("run_crash", {"ACK": "if (in_run(cc)) *(volatile int *)8 = 1;"}, "policy bad crashed (segmentation fault) in on_ack()", False),
    ("run_exit", {"ACK": "if (in_run(cc)) exit(0);"}, "policy bad called exit() in on_ack()", False),
    ("run_quick_exit", {"ACK": "if (in_run(cc)) _Exit(0);"}, "policy bad called _exit() in on_ack()", False),
    ("run_hang", {"ACK": "while (in_run(cc)) counter++;"}, "policy bad has not returned for 3 s", False),
]


def broken(name, changes):
    text = GOOD
    for key, value in dict(DEFAULTS, **changes).items():
        text = re.sub(rf"\b{key}\b", lambda _match, value=value: value, text)
    return compile_plugin(name, write(f"{name}.c", text), flags=["-w"])


def check_broken():
    scenario = write("s.json", json.dumps(INCAST))
    good = broken("good", {})
    code, _, stderr = collwire("validate", scenario, "--cc-plugin", good, "--set", "cc.kind=bad")
    expect(code == 0, f"the good one: {stderr}")
    code, _, stderr = collwire("validate", scenario, "--cc-plugin", write("text.so", "no library"))
    expect(code == 2 and "text.so: cannot be loaded: " in stderr, f"a text: {stderr}")
    code, _, stderr = collwire("validate", scenario, "--cc-plugin", "nowhere.so", "--cc-plugin", "other-nowhere.so")
    expect(code == 2 and len(stderr.splitlines()) == 2 and "there is no such file" in stderr, f"no file: {stderr}")
    for name, changes, says, wanted in REFUSED:
        code, stdout, stderr = collwire("validate", scenario, "--cc-plugin", broken(name, changes))
        expect(code == wanted and says in stderr and name in stderr and stdout == "",
               f"{name}: {code}, {stderr!r}")
    for name, changes, says, has_results in IN_RUN:
        out = WORK / f"out-{name}"
        code, _, stderr = collwire("run", scenario, "--out", out, "--quiet")
        before = (out / "metrics.json").read_bytes()
        code, stdout, stderr = collwire("run", scenario, "--cc-plugin", broken(name, changes), "--set", 'cc={"kind":"bad","share":0.2}', "--out", out)
        if has_results:
            metrics = json.loads((out / "metrics.json").read_text())
            expect(code == 1 and metrics["status"] == "incomplete" and says in metrics["reason"] and name in metrics["reason"]
                   and says in " ".join(stdout.split()), f"{name}: {code}, {metrics['reason']}, {stdout}")
            continue
        expect(code == 1 and says in stderr and name in stderr, f"{name}: {code}, {stderr!r}")
        expect((out / "metrics.json").read_bytes() == before and not list(out.glob(".collwire/new/*")), f"{name}: old results")
    code, stdout, stderr = collwire("compare", scenario, "--cc", "none,bad", "--cc-plugin", WORK / "run_crash.so", "--out", "compared")
    expect(code == 1 and "policy bad crashed" in stderr and re.search(r"^none +\d", stdout, re.M), f"compare: {code} {stdout} {stderr}")


done = subprocess.run(["cmake", "--install", BUILD, "--prefix", PREFIX], capture_output=True, text=True, check=False)
if done.returncode != 0:
    sys.exit(done.stdout + done.stderr)
try:
    check_example()
    check_example_of_sources()
    check_built_in()
    check_broken()
finally:
    shutil.rmtree(WORK)
print(f"{len(FAILURES)} failures")
sys.exit(len(FAILURES) > 0)
