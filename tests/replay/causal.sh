#!/bin/bash
# SPDX-License-Identifier: MIT
# The golden files of a causal profile are what their readers want: pictures are XML that asks
# nobody for anything, the data agree with one another, and what coz's viewer would make of its file
# is what follows from the data.
set -u
replay=${SOURCE:?}/tests/replay
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }

exec python3 - "$replay" <<'PY'
import json, re, sys
import xml.dom.minidom

folder = sys.argv[1] + "/causal."

def check(what, holds):
    if not holds:
        sys.exit("causal: " + what)

def read(ending):
    with open(folder + ending, encoding="utf-8") as file:
        return file.read()

# Pictures: the file, and those in the page.
page = read("html")
inline = re.findall("<svg.*?</svg>", page, re.S)
check("a plot for each that is ranked", len(inline) == 8)
for picture in [read("svg")] + inline:
    root = xml.dom.minidom.parseString(picture.encode())
    for node in root.getElementsByTagName("*"):
        check("element " + node.tagName, node.tagName in (
            "svg", "style", "title", "rect", "text", "g", "line", "path", "circle"))
        for name, value in node.attributes.items():
            check("attribute " + name, not name.startswith(("on", "href", "xlink")))
            check("number in " + value, not re.search("nan|inf", value.lower().replace(
                "how much faster", "")))

# Data.
text = read("json")
check("more than printable ASCII", re.fullmatch("[\n -~]*", text))
data = json.loads(text)
check("kind", data["kind"] == "causal" and data["schema"] == 1)
speedups = data["method"]["speedups"]
check("speed-ups", speedups == sorted(speedups) and speedups[0] == 0)
for curve in data["curves"]:
    check("places", curve["progress"] < len(data["progress"]) and
          curve["candidate"] < len(data["candidates"]))
    check("a gain for each", [gain["speedup"] for gain in curve["gains"]] == speedups)
    for gain in curve["gains"]:
        check("interval", gain["gain"] is None or gain["low"] <= gain["gain"] <= gain["high"])
    check("slope", (curve["slope"] is None) == (curve["verdict"] == "unsure"))
for sum_of in ("wall_ns", "held_ns"):
    check(sum_of, sum(one[sum_of] for one in data["experiments"]) == data["run"][sum_of])

# By candidate, speed-up and progress point: events, time, mean number in progress.
def add(to, selected, speedup, point, count, ns, in_progress):
    sums = to.setdefault((selected, speedup, point), [0, 0, 0])
    for i, value in enumerate((count, ns, in_progress * ns)):
        sums[i] += value

wanted, found = {}, {}
for one in data["experiments"]:
    if one["end"] != "whole":
        continue
    candidate = data["candidates"][one["candidate"]]
    read_ns = one["wall_ns"] - one["held_ns"]
    # The estimated cost of a tick, 12 us, is no part of the virtual time.
    ns = read_ns - min(12000 * one["ticks"], read_ns / 2)
    for point, reading in zip(data["progress"], one["readings"]):
        add(wanted, "%s (%s)" % (candidate["name"], candidate["module"]), one["speedup"],
            point["name"], reading["count"], ns, (reading["in_progress_ns"] or 0) / read_ns)

# As the viewer reads it.
types = {"startup", "runtime", "experiment", "throughput-point", "latency-point", "samples"}
for line in read("coz").splitlines():
    kind, *rest = line.split("\t")
    field = dict(part.split("=", 1) for part in rest)
    check("line " + line, kind in types and len(field) == len(rest))
    if kind == "experiment":
        experiment = field
    elif kind.endswith("-point"):
        latency = kind == "latency-point"
        add(found, experiment["selected"], float(experiment["speedup"]), field["name"],
            int(field["arrivals" if latency else "delta"]), int(experiment["duration"]),
            int(field["difference"]) / 1000 if latency else 0)
check("experiments of coz", wanted.keys() == found.keys() and len(found) > 40)
for key, sums in wanted.items():
    for a, b in zip(sums, found[key]):
        check("%s: %s, not %s" % (key, found[key], sums), abs(a - b) <= 0.001 * abs(a))
PY
