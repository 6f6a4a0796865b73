#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Help, near misses, completions and the installed files; no line that a terminal of 80 columns wraps.

usage: check_help.py BUILD, with the executable in $COLLWIRE.
"""
import os
import shutil
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
BUILD = sys.argv[1]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def collwire(*args):
    done = subprocess.run([COLLWIRE, *args], capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stdout, done.stderr


def names(text):
    """The first words of lines that are indented by two."""
    return [line.split()[0] for line in text.splitlines() if line[:2] == "  " and line[2:3].strip()]


def pages():
    code, overview, stderr = collwire("--help")
    commands = names(overview)
    expect(code == 0 and stderr == "" and {"run", "compare", "validate", "list", "help"} <= set(commands),
           f"--help: {code}, {commands}")
    texts = {"--help": overview}
    for command in commands:
        spellings = [collwire(command, "--help"), collwire(command, "-h"), collwire("help", command)]
        expect(all(s == spellings[0] and s[0] == 0 and s[2] == "" for s in spellings), f"help {command}")
        texts[command] = spellings[0][1]
    expect(len(set(texts.values())) == len(texts), "every command has a page of its own")
    for category in ("", *names_of_categories()):
        entries = collwire("list", *category.split())[1]
        texts[f"list {category}"] = entries
        for entry in names(entries) if category else ():
            texts[f"list {category} {entry}"] = collwire("list", category, entry)[1]
    for name, text in texts.items():
        widest = max((len(line) for line in text.splitlines()), default=0)
        expect(widest <= 80, f"{name}: a line of {widest} columns")
    expect(len(texts) > 60, f"only {len(texts)} pages")


def names_of_categories():
    return [line.split(":")[0] for line in collwire("list")[1].splitlines() if line[:1].strip()]


def mistakes():
    for args, words in ((("rnu", "x"), 'unknown command "rnu"; did you mean "run"?'),
                        (("help", "comapre"), 'did you mean "compare"?'),
                        (("run", "x", "--ouput", "y"), 'did you mean "--out"?'),
                        (("run", "x", "--qiet"), 'did you mean "--quiet"?'),
                        (("run", "x", "--xyz"), "see collwire --help"),
                        (("run", "x", "-x"), 'unknown option "-x"'),
                        (("list", "--cc", "none"), "--cc is not one of its options; it belongs to run, compare"),
                        (("list", "--jobs", "2"), "list: --jobs is not one of its options"),
                        (("run", "x", "--out"), "--out needs an argument"),
                        (("run", "x", "--quiet=1"), "--quiet takes no argument"),
                        (("run", "x", "--format", "cvs"), 'did you mean "csv"?'),
                        (("list", "cc", "dcqnc"), 'did you mean "dcqcn"?'),
                        (("list", "colective"), 'did you mean "collective"?'),
                        (("generate", "tcsh"), "man, bash, zsh, fish or schema")):
        code, stdout, stderr = collwire(*args)
        expect(code == 2 and stdout == "" and words in stderr and len(stderr.splitlines()) == 1,
               f"{args}: {code}, {stderr!r}")


def shell(program, script):
    done = subprocess.run([program, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.split(), done.stderr


def completions(share):
    """The completions as the shells find them; zsh is only parsed, since it completes in a terminal only."""
    cases = {"co": ["compare"], "compare x.json --form": ["--format"], "run x --format j": ["json"],
             "compare x --cc none,dcq": ["none,dcqcn"], "list coll": ["collective"], "help va": ["validate"]}
    bash = os.path.join(share, "bash-completion/completions/collwire")
    for line, wanted in cases.items():
        words = " ".join(f"'{word}'" for word in ("collwire", *line.split(" ")))
        found, stderr = shell("bash", f"source {bash}; compopt() {{ :; }}; COMP_WORDS=({words}); "
                              f"COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _collwire; echo ${{COMPREPLY[@]}}")
        expect(found == wanted and stderr == "", f"bash: {line}: {found} {stderr}")
    if shutil.which("fish"):
        fish = os.path.join(share, "fish/vendor_completions.d/collwire.fish")
        for line, wanted in cases.items():
            found, stderr = shell("fish", f"source {fish}; complete -C 'collwire {line}'")
            expect(wanted[0] in found and stderr == "", f"fish: {line}: {found} {stderr}")
    if shutil.which("zsh"):
        done = shell("zsh", f"zsh -n {os.path.join(share, 'zsh/site-functions/_collwire')}")
        expect(done == ([], ""), f"zsh: {done}")


def manual(share):
    page = os.path.join(share, "man/man1/collwire.1")
    if not shutil.which("man"):
        return
    done = subprocess.run(["man", "-l", "--warnings", page], capture_output=True, text=True, check=False,
                          env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C"})
    expect(done.returncode == 0 and done.stderr == "" and "collwire compare" in done.stdout,
           f"man: {done.stderr!r}")


def main():
    pages()
    mistakes()
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp], check=True, capture_output=True)
        done = subprocess.run([os.path.join(tmp, "bin/collwire"), "--version"], capture_output=True, check=False)
        expect(done.returncode == 0 and done.stdout.startswith(b"collwire "), "the installed program")
        completions(os.path.join(tmp, "share"))
        manual(os.path.join(tmp, "share"))
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
