#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The HTML report in a real browser: zoom, search, sort, both themes, keyboard, and not one
# error, request or element that is not ours. The page is the golden one, whose names are hostile.
# A driver is put into a copy of it; what it finds is read from the page that is left.
set -u
page=${SOURCE:-.}/tests/replay/report.html
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
cat >"$work/last" <<'JS'
<script>
(function () {
	const $ = (selector) => document.querySelector(selector);
	const frames = () => Array.from(document.querySelectorAll("#graph .frame"));
	const frame = (text) => frames().find((f) => f.title.startsWith(text));
	const key = (target, name) => target.dispatchEvent(
		new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
	let checks = 0;
	function check(what, holds) {
		checks++;
		if (!holds)
			problems.push("failed: " + what);
	}

	/* What is there. */
	check("the title is the heading's", document.title.startsWith("Process 4242 (ser\\x1bver)"));
	check("a summary", $("main").textContent.includes("A lock: threads that had work"));
	check("frames", frames().length > 8);
	check("bars", document.querySelectorAll("td .bar").length >= 12);
	check("no foreign element", !$("main b, main i, main a, main img, main iframe"));
	check("three scripts of ours and two of the test", document.scripts.length === 4);
	check("markup is text", frames().some((f) => f.title.includes("<\/script><script>alert(1)")));
	check("nothing was fetched", performance.getEntriesByType("resource").filter(
		(r) => !r.name.startsWith("data:")).length === 0);

	/* Zoom: a frame becomes as wide as the graph, its callers stay above it. */
	const width = (f) => f.getBoundingClientRect().width / $("#graph").clientWidth;
	check("a part is narrower", width(frame("event_loop")) < 0.9);
	frame("event_loop").click();
	check("zoomed", width(frame("event_loop")) > 0.99);
	check("callers can be read", getComputedStyle($(".frame.above")).opacity === "1");
	check("callers stay", width(frame("main (server)")) > 0.99);
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
	check("a legend", $("#legend").checkVisibility() && $("#legend").children.length === 3);

	/* Search. */
	const search = (text) => {
		$("#search").value = text;
		$("#search").dispatchEvent(new Event("input", { bubbles: true }));
	};
	search("EPOLL");
	check("what matches is marked", document.querySelectorAll(".frame.match").length === 1);
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
	check("Overhead does not", !frame("[waiting]"));
	weight(0).click();

	/* Tables sort by number, and by word. */
	const table = $("table"), cell = (row, column) => table.tBodies[0].rows[row].cells[column];
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
	check("nothing is wider than the page", document.documentElement.scrollWidth <=
		document.documentElement.clientWidth);

	const result = document.createElement("pre");
	result.id = "result";
	result.textContent = checks + " checks, " + problems.length + " problems\n" +
		problems.join("\n") + "\nEND";
	document.body.append(result);
})();
</script>
JS
awk -v first="$work/first" -v last="$work/last" '
	function put(file,   line) { while ((getline line <file) > 0) print line; close(file) }
	/^<\/body>$/ { put(last) }
	{ print }
	/^<head>$/ { put(first) }' "$page" >"$work/page.html"

failed=0
# run WIDTH FLAGS…: the page as it is left, and what was found on it.
run() {
	local width=$1
	shift
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$work/profile" --window-size="$width,900" "$@" \
		--virtual-time-budget=10000 --dump-dom "file://$work/page.html" \
		>"$work/out" 2>"$work/err" </dev/null
	sed -n '/<pre id="result">/,/^END/{ s/^.*<pre id="result">//; p; }' "$work/out" \
		>"$work/result"
	if [ ! -s "$work/result" ]; then
		echo "at $width: the driver did not come to its end"
		grep -v dbus "$work/err" | tail -n 20
		failed=1
	elif ! grep -q ', 0 problems$' "$work/result"; then
		echo "at $width: $(cat "$work/result")"
		failed=1
	else
		echo "at $width $*: $(head -n 1 "$work/result")"
	fi
}

run 1280
run 500
run 1280 --blink-settings=preferredColorScheme=0
exit $failed
