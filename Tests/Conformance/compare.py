"""Reads the JSON summaries that parley_report.py writes.

    compare.py table SUMMARY...            totals, per marker and per file
    compare.py baseline INVENTORY LABEL=SUMMARY[,SUMMARY] ... > baseline.json
                                           merges several servers' runs
    compare.py ceiling BASELINE            who passes how much; what nobody passes
    compare.py markdown BASELINE           the table in BASELINE.md
    compare.py diff SUMMARY BASELINE       our run against the peers'
"""

from __future__ import annotations

import collections
import json
import sys
from typing import Any, Dict, List

OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
GOOD = ("passed", "xpassed")
PREFIX = "irctest/server_tests/"


def load(path: str) -> Dict[str, Any]:
    with open(path) as fd:
        return json.load(fd)


def short(nodeid: str) -> str:
    return nodeid[len(PREFIX):] if nodeid.startswith(PREFIX) else nodeid


def print_rows(title: str, rows: Dict[str, Dict[str, int]]) -> None:
    width = max([len(title)] + [len(short(name)) for name in rows])
    print(f"{title:{width}}  total  " + "  ".join(f"{o:>7}" for o in OUTCOMES))
    for name, row in rows.items():
        cells = "  ".join(f"{row[o] or '.':>7}" for o in OUTCOMES)
        print(f"{short(name):{width}}  {row['total']:5}  {cells}")
    print()


def table(paths: List[str]) -> None:
    for path in paths:
        summary = load(path)
        print(f"== {summary['label']} ({summary['wall_seconds']} s)")
        print_rows("all", {"all": summary["totals"]})
        print_rows("marker", summary["per_marker"])
        print_rows("file", summary["per_file"])


def baseline(args: List[str]) -> None:
    inventory = load(args[0])["tests"]
    tests = {
        nodeid: {"markers": entry["markers"], "outcomes": {}, "reasons": {}}
        for nodeid, entry in sorted(inventory.items())
        if nodeid.startswith(PREFIX)
    }
    servers = {}
    for arg in args[1:]:
        label, _, paths = arg.partition("=")
        runs = [load(path) for path in paths.split(",")]
        servers[label] = {
            "runs": [
                {key: run[key] for key in ("label", "wall_seconds", "totals")}
                for run in runs
            ]
        }
        for run in runs:
            for nodeid, entry in run["tests"].items():
                tests[nodeid]["outcomes"][label] = entry["outcome"]
                if entry["outcome"] not in GOOD and entry["reason"]:
                    tests[nodeid]["reasons"][label] = entry["reason"][:200]
    json.dump({"servers": servers, "tests": tests}, sys.stdout, indent=1, sort_keys=True)
    print()


def select(tests: Dict[str, Any], which: str) -> List[str]:
    """The same selections as run.sh --select."""
    def wanted(markers: List[str]) -> bool:
        specific = "implementation-specific" in markers
        if which == "all":
            return True
        if "deprecated" in markers or (specific and not (which == "ergo" and "Ergo" in markers)):
            return False
        return which != "peers" or not {"services", "strict"} & set(markers)
    return [nodeid for nodeid, entry in tests.items() if wanted(entry["markers"])]


def ceiling(path: str) -> None:
    data = load(path)
    tests, servers = data["tests"], list(data["servers"])

    def passes(nodeid: str, server: str) -> bool:
        return tests[nodeid]["outcomes"].get(server) in GOOD

    print(f"{'selection':10} tests  " + "  ".join(f"{s:>14}" for s in servers) + "  any   every  none")
    for which in ("peers", "standard", "ergo", "all"):
        chosen = select(tests, which)
        counts = [sum(passes(n, s) for n in chosen) for s in servers]
        some = sum(any(passes(n, s) for s in servers) for n in chosen)
        every = sum(all(passes(n, s) for s in servers) for n in chosen)
        print(f"{which:10} {len(chosen):5}  " + "  ".join(f"{c:14}" for c in counts)
              + f"  {some:4}  {every:4}  {len(chosen) - some:4}")
    print("\npassed by no peer:")
    for nodeid in sorted(tests):
        if any(passes(nodeid, s) for s in servers):
            continue
        entry = tests[nodeid]
        print(f"  {short(nodeid)}  [{' '.join(entry['markers'])}]")
        for server in servers:
            print(f"      {server}: {entry['outcomes'].get(server, 'not run')}"
                  f"  {entry['reasons'].get(server, '')[:100]}")


def markdown(path: str) -> None:
    data = load(path)
    tests, servers = data["tests"], list(data["servers"])

    def rows(groups: Dict[str, List[str]]) -> None:
        for name, members in groups.items():
            cells = [sum(tests[n]["outcomes"].get(s) in GOOD for n in members) for s in servers]
            some = sum(any(o in GOOD for o in tests[n]["outcomes"].values()) for n in members)
            print(f"| {name} | {len(members)} | {' | '.join(map(str, cells))} | {some} |")

    head = f"| tests | {' | '.join(servers)} | any |\n|---|---|{'---|' * (len(servers) + 1)}"
    print("# Peers on irctest\n\nTests passed (an unexpected pass counts). Made by "
          "`compare.py markdown baseline.json`.\n")
    print("| run | wall s | total | passed | failed | error | skipped | xfailed | xpassed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for server in servers:
        for run in data["servers"][server]["runs"]:
            t = run["totals"]
            print(f"| {run['label']} | {run['wall_seconds']} | {t['total']} | "
                  + " | ".join(str(t[o]) for o in
                               ("passed", "failed", "error", "skipped", "xfailed", "xpassed")) + " |")
    print("\n| selection " + head)
    rows({which: select(tests, which) for which in ("peers", "standard", "ergo", "all")})
    by_marker: Dict[str, List[str]] = collections.defaultdict(list)
    by_file: Dict[str, List[str]] = collections.defaultdict(list)
    for nodeid, entry in tests.items():
        by_file[short(nodeid).split("::")[0]].append(nodeid)
        for marker in entry["markers"] or ["(none)"]:
            by_marker[marker].append(nodeid)
    print("\n| marker " + head)
    rows(dict(sorted(by_marker.items())))
    print("\n| file " + head)
    rows(dict(sorted(by_file.items())))


def diff(summary_path: str, baseline_path: str) -> None:
    ours = load(summary_path)["tests"]
    data = load(baseline_path)
    servers = list(data["servers"])
    behind: Dict[str, List[str]] = collections.defaultdict(list)
    ahead = []
    unknown = []
    union = 0
    for nodeid, entry in sorted(ours.items()):
        peer = data["tests"].get(nodeid)
        if peer is None:
            unknown.append(nodeid)
            continue
        passing = [s for s in servers if peer["outcomes"].get(s) in GOOD]
        union += bool(passing)
        good = entry["outcome"] in GOOD
        if passing and not good:
            line = f"{entry['outcome']:8} {short(nodeid)}  passed by {', '.join(passing)}"
            behind[entry["outcome"]].append(f"{line}\n         {(entry['reason'] or '')[:160]}")
        elif good and not passing:
            ahead.append(f"{short(nodeid)}")
    good = sum(entry["outcome"] in GOOD for entry in ours.values())
    print(f"ours: {good} of {len(ours)} selected tests pass; a peer passes {union} of them")
    for server in servers:
        theirs = sum(
            data["tests"].get(n, {}).get("outcomes", {}).get(server) in GOOD for n in ours
        )
        print(f"  {server}: {theirs} of the same selection")
    for outcome in ("failed", "error", "skipped", "xfailed"):
        if behind[outcome]:
            print(f"\n{len(behind[outcome])} {outcome} here that a peer passes:")
            print("\n".join(behind[outcome]))
    if ahead:
        print(f"\n{len(ahead)} pass here and with no peer:\n" + "\n".join(ahead))
    if unknown:
        print(f"\n{len(unknown)} not in the baseline (newer irctest?):\n" + "\n".join(unknown))


if __name__ == "__main__":
    commands = {
        "table": lambda a: table(a),
        "baseline": lambda a: baseline(a),
        "ceiling": lambda a: ceiling(*a),
        "markdown": lambda a: markdown(*a),
        "diff": lambda a: diff(*a),
    }
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](sys.argv[2:])
