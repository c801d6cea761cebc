#!/bin/bash
# SPDX-License-Identifier: MIT
# Profiles for the Firefox Profiler, made of the recordings kept here and of golden files: their
# tables are what version 60 of the format wants; the weights of samples are the time that the
# viewer's graph gives them; time of each thread in each category, in functions and in waits is that
# of the json report of the same recording.
set -u
replay=${SOURCE:?}/tests/replay
recordings=$replay/recordings
command -v python3 >/dev/null 2>&1 || { echo 'python3 is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

cat >"$dir/check.py" <<'PY'
import collections, json, re, sys, uuid
from decimal import Decimal

text = open(sys.argv[1], encoding="utf-8").read()
profile = json.loads(text, parse_float=Decimal)
report = json.load(open(sys.argv[2])) if len(sys.argv) > 2 else None
meta, shared, libs = profile["meta"], profile["shared"], profile["libs"]
problems = []

def check(what, holds):
    if not holds:
        problems.append(what)

def table(name, where, columns):
    rows = where[name]
    check("columns of " + name, set(rows) == set(columns) | {"length"})
    for column in columns:
        check("length of %s.%s" % (name, column), len(rows[column]) == rows["length"])
    return rows

def within(what, values, count, null=False):
    for value in values:
        check("%s: %s of %d" % (what, value, count),
              value is None and null or isinstance(value, int) and 0 <= value < count)

# --- tables -----------------------------------------------------------------------------------
check("more than printable ASCII", re.fullmatch("[\n -~]*", text))
check("version", meta["preprocessedProfileVersion"] == 60)
strings = shared["stringArray"]
stacks = table("stackTable", shared, ["prefix", "frame"])
frames = table("frameTable", shared, [
    "func", "category", "subcategory", "address", "line", "column", "inlineDepth",
    "nativeSymbol", "innerWindowID"])
functions = table("funcTable", shared, [
    "name", "resource", "source", "lineNumber", "columnNumber", "isJS", "relevantForJS"])
resources = table("resourceTable", shared, ["type", "name", "lib", "host"])
sources = table("sources", shared, ["filename", "uuid"])
table("nativeSymbols", shared, ["libIndex", "address", "name", "functionSize"])
check("texts differ", len(set(strings)) == len(strings))
check("texts are one line", not any(re.search("[\0-\x1f\x7f]", word) for word in strings))
within("frames of stacks", stacks["frame"], frames["length"])
for row, caller in enumerate(stacks["prefix"]):
    check("a caller is before what it calls", caller is None or 0 <= caller < row)
within("functions of frames", frames["func"], functions["length"])
within("names", functions["name"], len(strings))
within("resources", [r for r in functions["resource"] if r != -1], resources["length"])
within("sources", functions["source"], sources["length"], True)
within("names of resources", resources["name"], len(strings))
within("libs", resources["lib"], len(libs), True)
within("files", sources["filename"], len(strings))
for type_, lib in zip(resources["type"], resources["lib"]):
    check("type of a resource", type_ == (0 if lib is None else 1))
for address, function in zip(frames["address"], frames["func"]):
    resource = functions["resource"][function]
    check("address %s" % address, -1 <= address < 1 << 31)
    check("an address without a library",
          address == -1 or resources["lib"][resource] is not None)
for line in frames["line"]:
    check("line %s" % line, line is None or line > 0)
within("depths", frames["inlineDepth"], 256)
categories = meta["categories"]
check("the default category", categories[0]["color"] == "grey")
check("one default", [c["color"] for c in categories].count("grey") == 1)
palette = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown",
           "magenta", "red", "lightred", "darkgrey", "grey"}
for category in categories:
    check("colour of " + category["name"], category["color"] in palette)
    check("subcategories of " + category["name"], category["subcategories"][0] == "Other" and
          len(set(category["subcategories"])) == len(category["subcategories"]))
for category, sub in zip(frames["category"], frames["subcategory"]):
    check("category of a frame", 0 <= category < len(categories) and
          0 <= sub < len(categories[category]["subcategories"]))
for lib in libs:
    check("members of a lib", set(lib) == {"arch", "name", "path", "debugName", "debugPath",
                                           "breakpadId", "codeId"})
    wanted = ""
    if lib["codeId"]:
        head = bytes.fromhex(lib["codeId"])[:16].ljust(16, b"\0")
        wanted = uuid.UUID(bytes_le=head).hex.upper() + "0"
    check("breakpad id of " + lib["name"], lib["breakpadId"] == wanted)

# All rows are used, and no two rows of a table are equal.
def used(what, seen, count):
    check("all %s are used" % what, seen - {None, -1} == set(range(count)))
used("frames", set(stacks["frame"]), frames["length"])
used("functions", set(frames["func"]), functions["length"])
used("resources", set(functions["resource"]), resources["length"])
used("sources", set(functions["source"]), sources["length"])
used("libs", set(resources["lib"]), len(libs))
for name in "stackTable", "funcTable", "resourceTable", "sources":
    rows = shared[name]
    rows = list(zip(*(rows[column] for column in sorted(rows) if column != "length")))
    check("rows of %s differ" % name, len(set(rows)) == len(rows))

# --- samples ----------------------------------------------------------------------------------
def functions_of(stack):
    """The names of the functions, the innermost first."""
    names = []
    while stack is not None:
        names.append(strings[functions["name"][frames["func"][stacks["frame"][stack]]]])
        stack = stacks["prefix"][stack]
    return names

def doing_of(stack):
    """The names of the category and the subcategory; all frames have that category."""
    frame = stacks["frame"][stack]
    number, sub = frames["category"][frame], frames["subcategory"][frame]
    caller = stacks["prefix"][stack]
    while caller is not None:
        frame = stacks["frame"][caller]
        check("callers have the category", frames["category"][frame] == number)
        check("only the innermost has a subcategory", frames["subcategory"][frame] == 0)
        caller = stacks["prefix"][caller]
    return categories[number]["name"], categories[number]["subcategories"][sub]

seen, ids = set(), set()
by_doing = collections.Counter()     # (pid and tid, category)
by_sub = collections.Counter()       # (category, subcategory)
by_function = collections.Counter()
by_marker = collections.Counter()    # (pid and tid, category)
schemas = {schema["name"]: schema for schema in meta["markerSchema"]}
waits = {"Blocked: lock", "Waiting for the GIL", "Blocked: I/O or peer"}
for thread in profile["threads"]:
    who = thread["pid"], thread["tid"]
    check("ids of threads differ", who not in ids)
    ids.add(who)
    check("pid %s is text" % who[0], isinstance(who[0], str))
    if report and "targets" in report:
        process, = [t["process"] for t in report["threads"] if t["tid"] == who[1]]
        target = report["targets"][process]
        check("process of a thread", who[0] == str(target["pid"]))
        check("title of a process", thread["processName"] == target["command_line"])
    check("main thread", thread["isMainThread"] == (who[0].split()[0] == str(who[1])))
    samples = dict(thread["samples"])
    check("weights are milliseconds", samples.pop("weightType") == "tracing-ms")
    samples = table("samples", {"samples": samples}, ["stack", "time", "weight"])
    within("stacks", samples["stack"], stacks["length"])
    seen |= set(samples["stack"])
    times, weights = samples["time"], samples["weight"]
    check("times ascend", list(times) == sorted(times))
    check("weights", all(weight >= 0 for weight in weights))
    for i, (stack, weight) in enumerate(zip(samples["stack"], weights)):
        names = functions_of(stack)
        if names == ["[no data]"]:
            check("no data weighs nothing", weight == 0)
            continue
        by_doing[who, doing_of(stack)[0]] += weight
        by_sub[doing_of(stack)] += weight
        for name in set(names):
            by_function[name] += weight
        # The graph draws a sample between the middles to its neighbours. Times are whole
        # nanoseconds; the weights, which are halves of pieces, are rounded.
        before = times[i - 1] if i > 0 else times[i]
        behind = times[i + 1] if i + 1 < len(times) else times[i]
        drawn = (Decimal(behind) - Decimal(before)) / 2
        check("%s at %s: drawn %s, weighs %s" % (who, times[i], drawn, weight),
              abs(drawn - weight) <= Decimal("0.000001"))
    for a, b in zip(zip(samples["stack"], times), zip(samples["stack"][1:], times[1:])):
        check("another stack begins where the last one ends", a[0] == b[0] or a[1] == b[1])
    markers = table("markers", thread, ["name", "category", "data", "phase", "startTime",
                                        "endTime"])
    within("names of markers", markers["name"], len(strings))
    within("categories of markers", markers["category"], len(categories))
    for i, data in enumerate(markers["data"]):
        name = categories[markers["category"][i]]["name"]
        length = markers["endTime"][i] - markers["startTime"][i]
        check("a marker has a length", markers["phase"][i] == 1 and length > 0)
        fields = [field["key"] for field in schemas[data["type"]]["fields"]]
        check("fields of a marker", set(data) == {"type"} | set(fields))
        within("texts of markers", [data[field] for field in fields], len(strings))
        if data["type"] == "Wait":
            check("name of a wait", strings[markers["name"][i]] == name and name in waits)
            by_marker[who, name] += length
check("stacks of samples and their callers are all that there are",
      set(range(stacks["length"])) - set(stacks["prefix"]) <= seen)
for who, name in set(by_doing) | set(by_marker):
    if name in waits:
        check("markers of %s: %s, not %s" % (who, by_marker[who, name], by_doing[who, name]),
              abs(by_marker[who, name] - by_doing[who, name]) <= Decimal("0.000001"))

# --- the report -------------------------------------------------------------------------------
def category_of(stack):
    runs = stack["state"] in ("running", "waiting for a CPU")
    if stack["gil"] == "handover" and stack["state"] == "waiting for a CPU" or \
            stack["gil"] == "wait" and not runs:
        return "Waiting for the GIL"
    names = {"running": "Running", "waiting for a CPU": "Waiting for a CPU",
             "ready": "Waiting for a CPU", "stopped": "Stopped", "unknown": "Other"}
    return names.get(stack["state"], "blocked")

def compare(what, mine, theirs, slack):
    for key in set(mine) | set(theirs):
        check("%s of %s: %.3f ms, not %.3f" % (what, key, mine[key], theirs[key]),
              abs(float(mine[key]) - theirs[key]) <= slack)

if report is not None:
    # Corrections and late looks have a weight but no place: a few ticks.
    slack = 8 * report["sampling"]["elapsed_ns"] / report["sampling"]["ticks"] / 1e6
    tids = [thread["tid"] for thread in report["threads"]]
    mine, theirs = collections.Counter(), collections.Counter()
    for ((pid, tid), name), ms in by_doing.items():
        blocked = name in ("Blocked: lock", "Blocked: I/O or peer", "Idle")
        mine[tid, "blocked" if blocked else name] += ms
    cum = collections.Counter()
    for stack in report["stacks"]:
        stack.setdefault("gil", None)
        theirs[tids[stack["thread"]], category_of(stack)] += stack["wall_ns"] / 1e6
        for name in set(report["functions"][n]["name"] for n in stack["functions"]):
            cum[name] += stack["wall_ns"] / 1e6
    compare("time", mine, theirs, slack)
    compare("time", by_function, cum, slack)
    check("names of threads", {(t["tid"], t["name"]) for t in profile["threads"]} ==
          {(t["tid"], t["name"]) for t in report["threads"]})
    # Kinds of waits; that for the interpreter's lock has a category.
    kinds, subs = collections.Counter(), collections.Counter()
    for wait in report["waits"]:
        if wait["kind"] != "GIL" and not wait["kind"].startswith("rwlock"):
            kinds[wait["kind"]] += wait["wall_ns"] / 1e6
    for (name, sub), ms in by_sub.items():
        if sub != "Other" and not sub.startswith("rwlock"):
            subs[sub] += ms
    compare("waits", subs, kinds, slack)

for problem in problems[:20]:
    print(problem)
print("%d threads, %d stacks, %d problems" %
      (len(profile["threads"]), stacks["length"], len(problems)))
sys.exit(bool(problems))
PY

# same NAME OPTIONS…
same() {
	local file=$recordings/$1.wsdb
	shift
	"${WALLSAMPLE:?}" report -q "$@" -f firefox "$file" >"$dir/profile" &&
		"$WALLSAMPLE" report -q "$@" -f json "$file" >"$dir/report" &&
		python3 -W ignore "$dir/check.py" "$dir/profile" "$dir/report" || {
		echo "$file $*"
		failed=1
	}
}

same job
same hostile
same locks-v7
same python-v7
same workers
same job --from 0.45 --to 0.85
same job --state R
same job -I hash_document
for file in time.firefox.json time-part.firefox.json; do
	python3 -W ignore "$dir/check.py" "$replay/$file" || { echo "$file"; failed=1; }
done

# Two recordings are two processes, also those of one process id.
"$WALLSAMPLE" report -q -f firefox "$recordings/job.wsdb" "$recordings/hostile.wsdb" >"$dir/two" &&
	python3 -W ignore "$dir/check.py" "$dir/two" || failed=1
python3 - "$dir/two" <<'PY' || failed=1
import json, sys
pids = {thread["pid"] for thread in json.load(open(sys.argv[1]))["threads"]}
assert len(pids) == 2, pids
PY
exit $failed
