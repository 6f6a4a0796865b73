# SPDX-License-Identifier: MIT
"""The bill of materials as CycloneDX 1.5: collwire, and what a release brings with it: shared libraries, what is compiled in, and
the packages of npm in the charts of reports; each with version, licence, and where it is from."""
import hashlib
import json
import re
import uuid

from libraries import STATIC, Package

SPDX = {"Expat": "MIT", "MIT": "MIT", "MIT/X11": "MIT", "Apache-2.0": "Apache-2.0", "Zlib": "Zlib", "zlib": "Zlib", "public-domain": None,
        "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "BSD-2-Clause": "BSD-2-Clause", "BSD-3-Clause": "BSD-3-Clause",
        "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-3": "GPL-3.0-only", "GPL-3+": "GPL-3.0-or-later",
        "LGPL-2.1": "LGPL-2.1-only", "LGPL-2.1+": "LGPL-2.1-or-later", "LGPL-2+": "LGPL-2.0-or-later", "LGPL-3+": "LGPL-3.0-or-later",
        "LGPL-2": "LGPL-2.0-only", "ISC": "ISC", "BSL-1.0": "BSL-1.0", "0BSD": "0BSD", "CC0-1.0": "CC0-1.0"}


def licences(names):
    """By SPDX's name where a licence has one that is known here, else by the name in the copyright file."""
    found = []
    for name in names:
        known = SPDX.get(name)
        entry = {"license": {"id": known} if known else {"name": name}}
        if entry not in found:
            found.append(entry)
    return found or [{"license": {"name": "see the copyright file of the package"}}]


def debian(package, kind, note, files):
    entry = {"type": "library", "bom-ref": f"deb:{package.name}", "name": package.name, "version": package.version,
             "purl": f"pkg:deb/debian/{package.name}@{package.version}?arch={package.architecture}",
             "licenses": licences(package.licences()),
             "properties": [{"name": "collwire:how", "value": f"{kind}: {note}" if note else kind}]}
    if files:
        entry["properties"] += [{"name": f"collwire:file:{name}:sha256", "value": hashlib.sha256(path.resolve().read_bytes()).hexdigest()}
                                for name, path in files]
    return entry


def charts(source):
    """What the charts of reports have in them, from the lock file of npm: the packages that are no tools of the build."""
    lock = json.loads((source / "report" / "web" / "package-lock.json").read_text())
    found = []
    for path, package in sorted(lock["packages"].items()):
        if not path.startswith("node_modules/") or package.get("dev") or package.get("optional"):
            continue
        name = path.removeprefix("node_modules/")
        found.append({"type": "library", "bom-ref": f"npm:{name}", "name": name, "version": package["version"],
                      "purl": f"pkg:npm/{name}@{package['version']}", "licenses": licences([package.get("license", "unknown")]),
                      "properties": [{"name": "collwire:how", "value": "in the charts of reports (share/collwire/report-template.html, report-plot.js)"}]})
    return found


def document(source, facts):
    """`facts`: version, commit, libraries (name -> (path, Package))."""
    packages = {}
    for name, (path, package) in facts["libraries"].items():
        packages.setdefault(package.name, (package, []))[1].append((name, path))
    parts = [debian(package, "shared library in the tarball and the wheel", "", files) for package, files in packages.values()]
    parts += [debian(Package(name), "compiled in", note, []) for name, note in STATIC]
    parts = sorted(parts + charts(source), key=lambda part: part["bom-ref"])
    root = {"type": "application", "bom-ref": "collwire", "name": "collwire", "version": facts["version"],
            "licenses": [{"license": {"id": "MIT"}}], "properties": [{"name": "collwire:commit", "value": facts["commit"]}]}
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, 'collwire ' + facts['commit'])}",
            "metadata": {"timestamp": facts["time"], "component": root}, "components": parts,
            "dependencies": [{"ref": "collwire", "dependsOn": [part["bom-ref"] for part in parts]}]}


def write(source, file, facts):
    text = json.dumps(document(source, facts), indent=1, sort_keys=True)
    if re.search(r"/(home|root|work)/", text):
        raise SystemExit("release: the bill of materials has a path of this machine")
    file.write_text(text + "\n")
