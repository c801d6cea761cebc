#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The HTML report in a real browser: zoom, search, sort, both themes, keyboard, the timeline, and
# not one error, request or element that is not ours; without scripts; and on paper. The pages are
# the golden ones, whose names are hostile. A driver is put into a copy of each; what it finds is
# read from the page that is left.
set -u
pages=${SOURCE:-.}/tests/replay
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo 'no chromium'
	exit 77
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# As the page's own policy would have it, but with a voice: errors and violations are collected
# before anything else runs.
cat >"$work/first" <<'JS'
<script>
window.problems = [];
window.addEventListener("error", (e) => problems.push("error: " + e.message));
window.addEventListener("unhandledrejection", (e) => problems.push("rejection: " + e.reason));
document.addEventListener("securitypolicyviolation", (e) => problems.push("blocked: " + e.blockedURI));
for (const name of ["error", "warn"])
	console[name] = (...words) => problems.push("console: " + words.join(" "));
window.alert = () => problems.push("a name ran as a script");
</script>
JS
# What both drivers have, around what they do.
cat >"$work/begin" <<'JS'
<script>
(function () {
	const $ = (selector) => document.querySelector(selector);
	const key = (target, name, shift) => target.dispatchEvent(new KeyboardEvent("keydown",
		{ key: name, shiftKey: shift === true, bubbles: true, cancelable: true }));
	let checks = 0;
	function check(what, holds) {
		checks++;
		if (!holds)
			problems.push("failed: " + what);
	}
JS
cat >"$work/end" <<'JS'
	check("nothing was fetched", performance.getEntriesByType("resource").filter(
		(r) => !r.name.startsWith("data:")).length === 0);
	check("nothing is wider than the page", document.documentElement.scrollWidth <=
		document.documentElement.clientWidth);
	const other = document.createElement("script");
	other.textContent = "window.otherRan = true";
	document.body.append(other);
	check("no other script runs", window.otherRan !== true);
	other.remove();
	const result = document.createElement("pre");
	result.id = "result";
	result.textContent = checks + " checks, " + problems.length + " problems\n" +
		problems.join("\n") + "\nEND";
	document.body.append(result);
})();
</script>
JS

cat >"$work/report.js" <<'JS'
	const frames = () => Array.from(document.querySelectorAll("#graph .frame"));
	const frame = (text) => frames().find((f) => f.title.startsWith(text));

	/* What is there. */
	check("the title is the heading's", document.title.startsWith("Process 4242 (ser\\x1bver)"));
	check("a cause", $("main").textContent.includes("Lock: threads waited for locks 57%"));
	check("frames", frames().length > 8);
	check("bars", document.querySelectorAll("td .bar").length >= 12);
	check("no foreign element", !$("main b, main i, main a, main img, main iframe"));
	check("three scripts of ours and two of the test", document.scripts.length === 4);
	check("markup is text", frames().some((f) => f.title.includes("<\/script><script>alert(1)")));
	check("without a recording there is no timeline", !$("#timeline"));

	/* Zoom: a frame becomes as wide as the graph, its callers stay above it. */
	const width = (f) => f.getBoundingClientRect().width / $("#graph").clientWidth;
	check("a part is narrower", width(frame("event_loop")) < 0.9);
	frame("event_loop").click();
	check("zoomed", width(frame("event_loop")) > 0.99);
	check("callers can be read", getComputedStyle($(".frame.above")).opacity === "1");
	check("callers stay", width(frame("main\nserver")) > 0.99);
	check("others go", !frame("pool::worker::run"));
	check("the detail says so", $("#detail").textContent.startsWith("event_loop (server): 29.8"));
	key($("#graph"), "ArrowDown");
	check("the keyboard goes down", $(".frame.current").title.startsWith("__epoll_wait"));
	key($("#graph"), "Enter");
	check("and zooms", width(frame("__epoll_wait")) > 0.99);
	key($("#graph"), "Escape");
	check("and back", frame("pool::worker::run"));
	frame("event_loop").click();
	$("#reset").click();
	check("the button, too", frame("pool::worker::run"));

	/* A thin tower does not push the tables away; there is a key to the colours. */
	check("no graph is higher than the window",
		parseFloat(getComputedStyle($("#graph")).maxHeight) <= innerHeight);
	check("a legend", $("#legend").checkVisibility() && $("#legend").textContent.startsWith(
		"the program's codelibraries and runtimes") &&
		$("#legend").textContent.includes("blockedwaiting for a CPU"));

	/* Frames, their names and colours are those of the picture for browsers without scripts, which
	 * is not built here. */
	const kind = (f) => Array.from(f.classList).find((name) => name.length === 1);
	const fill = (f) => getComputedStyle(f).backgroundColor;
	check("a wait is a frame", kind(frame("[sleeping in epoll_wait]")) === "w");
	check("of another colour", fill(frame("[sleeping in epoll_wait]")) !== fill(frame("event_loop")) &&
		fill(frame("__epoll_wait")) !== fill(frame("event_loop")));
	check("the legend has it", Array.from(document.querySelectorAll("#legend .swatch")).some(
		(swatch) => fill(swatch) === fill(frame("[sleeping in epoll_wait]"))));
	check("no picture is built", !$("svg.picture"));
	const picture = new DOMParser().parseFromString($("#flame noscript").textContent, "text/html");
	const drawn = Array.from(picture.querySelectorAll("g.frames > g"), (g) =>
		g.getAttribute("class") + " " + g.querySelector("title").textContent.split("\n")[0]);
	const here = frames().map((f) => kind(f) + " " + f.title.split("\n")[0]);
	check("the picture has frames", drawn.length > 8 && drawn.includes("w [sleeping in epoll_wait]"));
	check("they are those of the graph", drawn.every((one) => here.includes(one)));
	check("it has a name as text", drawn.some((one) => one.includes("<\/script><script>alert(1)")) &&
		!picture.querySelector(".picture script, .picture b, .picture a"));

	/* A label has the module where there is room for it only. */
	check("with a module", frame("_start\nserver").textContent === "_start (server)");
	check("a name alone", frames().every((f) => !f.textContent || f.textContent.startsWith(
		f.title.slice(0, 2))));
	check("labels fit", frames().every((f) => f.scrollWidth <= f.clientWidth + 1));

	/* Search. */
	const search = (text) => {
		$("#search").value = text;
		$("#search").dispatchEvent(new Event("input", { bubbles: true }));
	};
	search("EPOLL");
	check("what matches is marked", document.querySelectorAll(".frame.match").length === 2);
	check("the others can still be read", getComputedStyle($(".frame.dim")).opacity === "1");
	check("its share is said", $("#found").textContent === "matched: 41.15%");
	search("parse_value");
	check("recursion counts once", $("#found").textContent === "matched: 6.01%");
	search("<\/script>");
	check("markup is found", document.querySelectorAll(".frame.match").length >= 2);
	search("('.th)");
	check("in names, too, case does not count",
		document.querySelectorAll(".frame.match").length >= 2);
	search("no such name");
	check("nothing matches", $("#found").textContent === "matched: 0.00%");
	key($("#search"), "Escape");
	check("escape ends it", $("#search").value === "" && !$(".frame.dim"));
	key(document.body, "/");
	check("a key begins it", document.activeElement === $("#search"));

	/* Weights. */
	const weight = (i) => $("#weights").children[i];
	weight(2).click();
	check("Latency shows the waits", frame("[waiting]") && weight(2).ariaPressed === "true");
	weight(1).click();
	check("CPU does not", !frame("[waiting]"));
	weight(0).click();

	/* Tables sort by number, and by word. */
	const table = Array.from(document.querySelectorAll("table")).find(
		(t) => t.tHead.textContent.includes("cum%"));
	const cell = (row, column) => table.tBodies[0].rows[row].cells[column];
	const title = (text) => Array.from(table.tHead.rows[0].cells).findIndex(
		(h) => h.textContent === text);
	const press = (text) => table.tHead.rows[0].cells[title(text)].querySelector("button").click();
	press("cum%");
	check("largest first", cell(0, title("cum%")).textContent === "51.50%");
	press("cum%");
	check("then smallest", cell(0, title("cum%")).textContent === "<0.01%");
	press("wall");
	check("seconds above milliseconds", cell(0, 0).textContent === "26.00s" &&
		cell(6, 0).textContent === "150ms" && cell(10, 0).textContent === "0.4us");
	press("function (module)");
	check("words from A to Z", cell(0, title("function (module)")).textContent <
		cell(12, title("function (module)")).textContent.replace(/^[^a-z]*/, ""));
	check("it is said", table.querySelectorAll("th[aria-sort]").length === 1);

	/* Themes. */
	const back = () => getComputedStyle(document.body).backgroundColor;
	const dark = "rgb(20, 23, 27)", light = "rgb(255, 255, 255)";
	const auto = matchMedia("(prefers-color-scheme: dark)").matches ? dark : light;
	check("as the system is", back() === auto);
	$("#theme").click();
	check("light", back() === light);
	$("#theme").click();
	check("dark", back() === dark);
	$("#theme").click();
	check("and back to the system's", back() === auto);
JS

# A hundred bins of 10 ms; who did what in them is said in tests/unit/report/test_timeline.c.
cat >"$work/timeline.js" <<'JS'
	const rows = Array.from(document.querySelectorAll(".timeline-row"));
	const svg = (row) => rows[row].querySelector("svg");
	const windowOf = (row) => svg(row).getAttribute("viewBox").split(" ").slice(0, 3).join(" ");
	const text = () => $("#timeline-detail").textContent;
	const whole = "0 0 100";
	const hostile = "\x3c/script>\x3cscript>alert(1)\x3c/script>\x3c!--";
	/* Where bin `bin` is on the screen, in which there are `count` from `from` on. */
	function at(row, bin, from, count) {
		const box = svg(row).getBoundingClientRect();
		return { clientX: box.left + (bin + 0.5 - from) / count * box.width,
			clientY: box.top + box.height / 2, button: 0, bubbles: true };
	}
	const point = (kind, row, bin, from, count) => svg(row).dispatchEvent(
		new PointerEvent(kind, at(row, bin, from || 0, count || 100)));
	const drag = (left, right) => {
		point("pointerdown", 1, left);
		point("pointermove", 2, right);
	};

	/* What is there. */
	check("it is drawn", !$("#timeline-figure").hidden && rows.length === 4);
	check("below the flame graph", $("#flame").compareDocumentPosition($("#timeline")) ===
		Node.DOCUMENT_POSITION_FOLLOWING);
	check("a shape for each state", svg(1).children.length === 3 && svg(2).children.length === 2);
	check("and the CPUs", svg(0).querySelector(".cpus"));
	check("a legend of the states there are", $("#timeline-legend").textContent ===
		"runningwaiting for a CPUuninterruptiblesleeping");
	check("names are text", rows[1].textContent === hostile + "79");
	check("the axis has times", Array.from(document.querySelectorAll(".timeline-axis span")).some(
		(label) => label.textContent === "0.5s"));
	check("four scripts of ours and two of the test", document.scripts.length === 5);

	/* Shapes are where they should be: the second row ran for 25 of 100 bins, slept later. */
	const box = (shape) => shape.getBBox();
	check("it slept all along", box(svg(2).children[0]).width === 100);
	check("what ran ends when it did", svg(2).children[1].getAttribute("d") ===
		"M0 20V0H25V20Z");
	check("what began later is later", svg(1).children[2].getAttribute("d") ===
		"M40 20V0H65V20Z");

	/* Pointing. */
	check("no cursor yet", $("#timeline-cursor").hidden);
	point("pointermove", 1, 45);
	check("what it did", text() === "0.45s to 0.46s, " + hostile + " (79): 100% running; on a " +
		"CPU at once: 1 on average, at most 1, of 4 CPUs");
	check("a cursor", !$("#timeline-cursor").hidden && rows[1].classList.contains("current"));
	point("pointermove", 1, 20);
	check("not there yet", text().includes("(79): absent, or not selected; on a CPU"));
	point("pointermove", 3, 59);
	check("two at once", text().startsWith("0.59s to 0.60s, \u65e5\u672c (80): 100% running; on a " +
		"CPU at once: 2 on average, at most 2"));
	point("pointermove", 0, 30);
	check("nobody", text() === "0.30s to 0.31s, on a CPU at once: 0 on average, at most 0, of 4 CPUs");

	/* Keys. */
	const plot = $("#timeline-plot");
	plot.focus();
	key(plot, "ArrowDown");
	key(plot, "ArrowDown");
	check("down", text().startsWith("0.30s to 0.31s, main (77): 100% sleeping"));
	key(plot, "ArrowLeft", true);
	check("far to the left", text().startsWith("0.20s to 0.21s, main (77): 100% running"));
	key(plot, "ArrowRight");
	key(plot, "ArrowUp");
	check("right and up", text().startsWith("0.21s to 0.22s, <"));
	key(plot, "Home");
	key(plot, "ArrowLeft");
	check("no further than the beginning", text().startsWith("0.00s to 0.01s"));
	key(plot, "End");
	key(plot, "ArrowRight");
	check("nor than the end", text().startsWith("0.99s to 1.00s"));
	for (let i = 0; i < 5; i++)
		key(plot, "ArrowDown");
	check("nor below the last row", rows[3].classList.contains("current"));
	key(plot, "+");
	check("plus zooms in", windowOf(1) === "50 0 50" && windowOf(0) === windowOf(3));
	key(plot, "-");
	check("minus zooms out", windowOf(1) === whole);

	/* Zoom by dragging. */
	check("there is nothing to go back to", $("#timeline-whole").disabled);
	drag(20, 39);
	check("the range is shown", !$("#timeline-range").hidden && text() === "0.20s to 0.40s");
	point("pointerup", 2, 39);
	check("and zoomed into", windowOf(1) === "20 0 20" && $("#timeline-range").hidden);
	point("pointermove", 2, 25, 20, 20);
	check("pointing is right there", text().startsWith("0.25s to 0.26s, main (77): 100% sleeping"));
	key(plot, "Home");
	key(plot, "ArrowLeft");
	check("what is gone to is in sight", windowOf(1) === "19 0 20");
	key(plot, "Escape");
	check("escape shows the whole", windowOf(1) === whole);
	drag(60, 50);
	key(plot, "Escape");
	point("pointerup", 1, 50);
	check("escape ends a drag", windowOf(1) === whole && $("#timeline-range").hidden);
	drag(60, 50);
	point("pointerup", 1, 50);
	check("backwards, too", windowOf(1) === "50 0 11");
	$("#timeline-whole").click();
	check("the button, too", windowOf(1) === whole);
	point("pointerdown", 1, 10);
	point("pointerup", 1, 10);
	check("a click is no drag", windowOf(1) === whole);

	/* Themes. */
	const fill = () => getComputedStyle(svg(2).children[1]).fill;
	const bright = "rgb(255, 138, 76)", deep = "rgb(212, 85, 28)"; /* .s0 in palette.css */
	const auto = matchMedia("(prefers-color-scheme: dark)").matches ? bright : deep;
	check("as the system is", fill() === auto);
	$("#theme").click();
	check("light", fill() === deep);
	$("#theme").click();
	check("dark", fill() === bright);
	$("#theme").click();
	check("and back to the system's", fill() === auto);
JS

# Thirty bins of 10 ms; who had the interpreter's lock in them: tests/unit/report/test_gil_time.c.
cat >"$work/timeline-gil.js" <<'JS'
	const rows = Array.from(document.querySelectorAll(".timeline-row"));
	const text = () => $("#timeline-detail").textContent;
	const plot = $("#timeline-plot");
	const go = (name, times) => {
		for (let i = 0; i < times; i++)
			key(plot, name);
	};

	check("a row for the lock", rows.length === 4 && rows[1].textContent === "GILholder");
	check("a shape for each that had it", rows[1].querySelector("svg").children.length === 2);
	check("what ends when it was handed over", rows[1].querySelectorAll("path")[1]
		.getAttribute("d") === "M0 20V0H10V20ZM20 20V0H30V20Z");
	check("a legend of the wait, too", $("#timeline-legend").textContent ===
		"runningwaiting for a CPUwaiting for the GILsleeping");
	plot.focus();
	key(plot, "ArrowDown");
	check("who had it first", text().startsWith(
		"0.00s to 0.01s, the GIL was held by: 100% worker (78); on a CPU"));
	go("ArrowRight", 12);
	check("who had it then", text().includes("held by: 100% idle (79);"));
	key(plot, "ArrowDown");
	check("who waited for it", text().includes("worker (78): 100% waiting for the GIL;"));
	key(plot, "ArrowDown");
	check("and who had it", text().includes("idle (79): 100% running, held the GIL for 100%;"));
	go("ArrowRight", 15);
	check("who slept for other things", text().includes("idle (79): 100% sleeping;"));
	check("shades that differ", new Set(Array.from(rows[1].querySelectorAll("path"),
		(shape) => getComputedStyle(shape).fill)).size === 2);
JS

# The policy of the page permits its own script only. The first script of the test stands before the
# policy; the other one gets its hash into the copy.
for name in report timeline timeline-gil; do
	bytes=$(cat "$work/begin" "$work/$name.js" "$work/end" |
		sed '1s/^<script>//; $s/<.script>$//' | head -c -1 | sha256sum |
		sed 's/ .*//; s/../\\x&/g')
	hash=$(printf '%b' "$bytes" | base64)
	awk -v work="$work" -v name="$name" -v hash="$hash" '
		function put(file,   line) { while ((getline line <file) > 0) print line; close(file) }
		/^<\/body>$/ { put(work "/begin"); put(work "/" name ".js"); put(work "/end") }
		/Content-Security-Policy/ {
			sub(/script-src /, "script-src '"'"'sha256-" hash "'"'"' ")
		}
		{ print }
		/^<head>$/ { put(work "/first") }' <("$pages/expand.sh" "$name.html") \
		>"$work/$name.html"
done

failed=0
# run PAGE WIDTH FLAGS…: the page as it is left, and what was found on it.
run() {
	local name=$1 width=$2
	shift 2
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$work/profile" --window-size="$width,900" "$@" \
		--virtual-time-budget=10000 --dump-dom "file://$work/$name.html" \
		>"$work/out" 2>"$work/err" </dev/null
	sed -n '/<pre id="result">/,/^END/{ s/^.*<pre id="result">//; p; }' "$work/out" \
		>"$work/result"
	if [ ! -s "$work/result" ]; then
		echo "$name at $width: the driver did not come to its end"
		grep -v dbus "$work/err" | tail -n 20
		failed=1
	elif ! grep -q ', 0 problems$' "$work/result"; then
		echo "$name at $width: $(cat "$work/result")"
		failed=1
	else
		echo "$name at $width $*: $(head -n 1 "$work/result")"
	fi
}

# The page in a frame whose scripts are off, which the page around it looks at.
cat >"$work/without.js" <<'JS'
	const inner = $("iframe").contentDocument, page = inner.defaultView;
	const shown = (selector) => inner.querySelector(selector).checkVisibility();
	check("scripts do not run", inner.querySelector("#controls").hidden);
	check("the picture is there", shown("svg.picture") && inner.querySelectorAll(
		".picture g.frames > g").length > 8);
	check("one graph", inner.querySelectorAll("#graph *").length === 0);
	const rect = (name) => Array.from(inner.querySelectorAll(".picture g.frames > g")).find(
		(g) => g.querySelector("title").textContent.startsWith(name)).querySelector("rect");
	check("its colours", page.getComputedStyle(rect("[sleeping in epoll_wait]")).fill ===
		(matchMedia("(prefers-color-scheme: dark)").matches ?
			"rgb(23, 108, 191)" : "rgb(102, 171, 245)")); /* .w in palette.css */
	check("it fits", inner.documentElement.scrollWidth <= inner.documentElement.clientWidth);
	check("tables", inner.querySelectorAll("table").length > 3);
JS
{
	printf '<!DOCTYPE html>\n<html><head>\n'
	cat "$work/first"
	printf '</head><body>\n<iframe sandbox="allow-same-origin" width="100%%" height="800" srcdoc="'
	"$pages/expand.sh" report.html | sed 's/&/\&amp;/g; s/"/\&quot;/g'
	printf '"></iframe>\n'
	cat "$work/begin"
	printf 'window.addEventListener("load", () => {\n'
	cat "$work/without.js"
	sed '/check("no other/d; /^	const other/,/^	document.body.append(other)/d; /^	other.remove/d
		s/^})();$/}); })();/' "$work/end"
	printf '</body></html>\n'
} >"$work/without.html"

# On paper, each cell of each table is complete, and each page on which a table continues repeats
# the titles of the table. The paper is low, so that the table of functions needs more than a page
# wherever it stands.
print_page() {
	local name=$1
	command -v pdftotext >/dev/null 2>&1 && command -v python3 >/dev/null 2>&1 || {
		echo 'pdftotext is not there'
		return
	}
	"$pages/expand.sh" "$name" |
		sed '0,/<head>/s//<head><style>@page { size: 297mm 120mm !important }<\/style>/' >"$work/paper.html"
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$work/profile" --no-pdf-header-footer \
		--print-to-pdf="$work/paper.pdf" "file://$work/paper.html" 2>"$work/err" </dev/null
	pdftotext -raw "$work/paper.pdf" "$work/paper.txt" &&
		python3 - "$work/paper.html" "$work/paper.txt" <<'PY' || failed=1
import html.parser
import sys


class Cells(html.parser.HTMLParser):
    """Collects the text of cells, and of the titles of each table."""

    def __init__(self):
        super().__init__()
        self.cells, self.inside = [], False

    def handle_starttag(self, tag, attrs):
        if tag in ("td", "th"):
            self.cells.append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data


page = Cells()
page.feed(open(sys.argv[1], encoding="utf-8").read())
paper = open(sys.argv[2], encoding="utf-8").read()
# Fonts of the machine may lack other characters; bars and the ends of lines are no text.
cells = [c for c in page.cells if c.strip() and c.isascii()]
joined = "".join(paper.split())
lost = [c for c in cells if "".join(c.split()) not in joined]
for cell in lost:
    print("not on paper: " + cell)
pages = [p for p in paper.split("\f") if "%" in p and "function (module)" in p]
print(f"paper: {len(cells)} cells, {len(lost)} lost")
if not pages or paper.count("function (module)") < 2:
    print("a table continues without its titles")
    lost.append("titles")
sys.exit(1 if lost or len(cells) < 50 else 0)
PY
}

print_page exports/hostile.html
run without 1280
run without 1280 --blink-settings=preferredColorScheme=0
for name in report timeline timeline-gil; do
	run $name 1280
	run $name 500
	run $name 1280 --blink-settings=preferredColorScheme=0
done
exit $failed
