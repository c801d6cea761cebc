#!/bin/bash
# SPDX-License-Identifier: MIT
# A browser opens the golden flame graphs: zoom, search, keys and details do what they should, and
# names that look like markup are text. The browser is headless, and has no network.
set -u
replay=${SOURCE:?}/tests/replay
for browser in chromium chromium-browser google-chrome ''; do
	command -v "$browser" >/dev/null 2>&1 && break
done
[ -n "$browser" ] || { echo 'chromium is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

# Put before the end of the file, so that it runs when the graph's own script has.
cat >"$dir/common.js" <<'JS'
const result = [];
const say = (what) => result.push(what);
const frames = [...document.querySelectorAll("#frames > g")];
const name = (frame) => frame.querySelector("title").textContent.split("\n")[0];
const named = (wanted) => frames.find((frame) => name(frame) === wanted);
const shown = () => frames.filter((frame) => frame.style.display !== "none");
const width = (frame) => Number(frame.querySelector("rect").getAttribute("width"));
const label = (frame) => frame.querySelector("text")?.textContent;
const key = (where, pressed) => where.dispatchEvent(new KeyboardEvent("keydown",
	{ key: pressed, bubbles: true, cancelable: true }));
const click = (where) => where.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const same = (what, is, wanted) => say(is === wanted ? "good: " + what : `bad: ${what}: ${is}`);
const check = (what, truth) => say((truth ? "good: " : "bad: ") + what);
const search = (text) => {
	const input = document.getElementById("search");
	input.value = text;
	input.dispatchEvent(new Event("input"));
	return document.getElementById("found").textContent;
};
const details = () => document.getElementById("details").textContent;
window.addEventListener("error", (event) => say("bad: " + event.message));
JS

# drive FILE [SED]: with the driver from stdin; each of its lines must be good
drive() {
	{
		"$replay/expand.sh" "$1" | sed -e '$d' -e "${2:-}"
		printf '<script><![CDATA[\n'
		cat "$dir/common.js" -
		printf 'document.documentElement.setAttribute("data-result", result.join("; "));\n'
		printf ']]></script>\n</svg>\n'
	} >"$dir/driven.svg"
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$dir/profile" --host-resolver-rules='MAP * ~NOTFOUND' \
		--dump-dom "file://$dir/driven.svg" >"$dir/dom" 2>"$dir/err" ||
		{ tail -n 5 "$dir/err"; failed=1; return; }
	result=$(sed -n 's/.*data-result="\([^"]*\)".*/\1/p' "$dir/dom" | head -n 1)
	printf '%s: %s\n' "$1" "$result"
	case $result in
	*bad:* | '') failed=1 ;;
	*'good: end') ;;
	*) failed=1 ;;
	esac
}

drive flame.svg <<'JS'
const all = frames[0];
same("title", document.title, "Wall time, running or blocked, of process 4242 (ser\\x1bver)");
check("all are shown", shown().length === frames.length && name(all) === "all");
click(named("event_loop"));
check("zoomed frame fills the width", width(named("event_loop")) === 1180);
check("those below it, too", width(all) === 1180 && width(named("main")) === 1180);
check("others are hidden", named("pool::worker::run").style.display === "none");
const widths = ["__epoll_wait", "json::parser<std::vector<char, std::allocator<char> >, " +
	"json::default_handler>::parse_value"].map((each) => width(named(each)));
check("callees fill it", Math.abs(widths[0] + widths[1] - 1180) < 0.01);
check("labels are fitted again", label(named("event_loop")) === "event_loop (server)");
check("the name comes before the module", label(named("__lll_lock_wait")).startsWith("__lll_lock_wait"));
check("waits are frames", named("[sleeping in epoll_wait]").getAttribute("class") === "w");
click(document.getElementById("reset"));
check("reset", shown().length === frames.length && width(named("event_loop")) < 600);
same("matched share", search("lock_wait|pool::"), "matched: 49.35%");
check("highlight", named("pool::worker::run").classList.contains("match") &&
	!named("main").classList.contains("match"));
same("module", search("libc\\.so"), "matched: 79.56%");
same("no pattern, but text", search("[unint"), "matched: 0.25%");
key(document.documentElement, "Escape");
check("search is over", document.querySelectorAll(".match").length === 0);
check("one is reached by Tab", document.querySelectorAll("#frames [tabindex='0']").length === 1);
all.focus();
key(all, "ArrowUp");
check("up", document.activeElement === named("_start"));
key(document.activeElement, "ArrowRight");
check("right", document.activeElement === named("pool::worker::run"));
same("details", details(), "pool::worker::run — server — 29.12s, 49.20%");
key(document.activeElement, "Enter");
check("Enter zooms", width(named("pool::worker::run")) === 1180);
key(document.activeElement, "ArrowDown");
check("down", document.activeElement === all);
key(document.activeElement, "Escape");
check("Escape resets", shown().length === frames.length);
key(document.documentElement, "/");
check("/ is for search", document.activeElement === document.getElementById("search"));
check("nothing is fetched", performance.getEntriesByType("resource").length === 0);
say("good: end");
JS
drive flame.svg "s/<title>event_loop/&_$(printf '%0230d' 0)/" <<'JS'
frames.find((frame) => name(frame).startsWith("event_loop_")).dispatchEvent(new MouseEvent("mouseover"));
check("a long name leaves room for the time", details().endsWith("0 — server — 29.80s, 50.35%"));
check("and is cut in the middle", details().startsWith("event_loop_0") && details().includes("…"));
check("in all it fits", document.getElementById("details").getComputedTextLength() <= 1180);
say("good: end");
JS
drive flame-latency.svg <<'JS'
check("a root for each thread", width(named("server-4242")) > 500);
check("nobody ran", named("[waiting]").getAttribute("class").startsWith("n"));
say("good: end");
JS
drive flame-hostile.svg <<'JS'
check("the name is text", label(named("<script>alert(1)</script>")) ===
	"<script>alert(1)</script> (\"><script>alert(2)</script>)");
check("no scripts but ours", document.querySelectorAll("script").length === 2);
check("the thread", named("<&\"'>-7") !== undefined);
check("markup", frames.some((frame) => name(frame) ===
	"]]" + ">'&lt;\\ufffe\\uffff</title><script>alert(3)</script>"));
named("<script>alert(1)</script>").dispatchEvent(new MouseEvent("mouseover"));
check("details", details().startsWith("<script>alert(1)</script> — \"><script>alert(2)</script> — "));
search("<script>");
click(named("<script>alert(1)</script>"));
check("still no scripts", document.querySelectorAll("script").length === 2);
check("what turns text is seen", frames.some((frame) => name(frame) === "a\\u202ez;\\u2028"));
say("good: end");
JS
exit $failed
