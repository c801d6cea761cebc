#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# speedscope itself, in a real browser, opens what the speedscope and perf formats are: the golden
# files, whose names are hostile. The right function is first, each thread has its own profile,
# and there is not one error. Nothing is downloaded: the npm package has to be installed
# (npm install -g speedscope), or to be where SPEEDSCOPE says.
set -u
replay=${SOURCE:-.}/tests/replay
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo 'no chromium'
	exit 77
}
package=${SPEEDSCOPE:-$(npm root -g 2>/dev/null </dev/null)/speedscope}
release=$package/dist/release
[ -e "$release/index.html" ] || {
	echo 'no npm package speedscope'
	exit 77
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cp -R "$release" "$work/page" || exit 99

# Errors are collected before anything else runs.
cat >"$work/first" <<'JS'
<script>
window.problems = [];
window.addEventListener("error", (e) => problems.push("error: " + e.message));
window.addEventListener("unhandledrejection", (e) => problems.push("rejection: " + e.reason));
for (const name of ["error", "warn"])
	console[name] = (...words) => problems.push("console: " + words.join(" "));
window.alert = (text) => problems.push("alert: " + text);
</script>
JS
# Goes from profile to profile by the viewer's own key; steps are [title, first row, …].
cat >"$work/last" <<'JS'
<script src="../steps.js"></script>
<script>
(function () {
	let step = 0, tries = 0;
	const rows = () => Array.from(document.querySelectorAll("tbody tr, table tr")).map(
		(row) => Array.from(row.cells).map((cell) => cell.textContent.trim()).join(" | "));
	function end() {
		const result = document.createElement("pre");
		result.id = "result";
		result.textContent = step + " profiles, " + problems.length + " problems\n" +
			problems.join("\n") + "\nEND";
		document.body.append(result);
	}
	function look() {
		const [title, ...wanted] = steps[step], seen = rows();
		const there = document.body.textContent.includes(title) &&
			wanted.every((row) => seen.some((other) => other.includes(row)));
		if (!there && tries++ < 800)
			return setTimeout(look, 50);
		if (!there)
			problems.push("no '" + title + "' with " + wanted.join(" and ") + " in\n" +
				seen.join("\n") + "\n" + document.body.textContent.slice(0, 300));
		step++;
		tries = 0;
		if (step === steps.length || !there)
			return end();
		window.dispatchEvent(new KeyboardEvent("keypress", { key: "n", bubbles: true }));
		window.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
		setTimeout(look, 50);
	}
	look();
})();
</script>
JS
awk -v first="$work/first" -v last="$work/last" '
	function put(file,   line) { while ((getline line <file) > 0) print line; close(file) }
	/<\/body>/ { put(last) }
	{ print }
	/<head>/ { put(first) }' "$release/index.html" >"$work/page/index.html"

failed=0
# open FILE STEPS: in the view that has a table of functions
open() {
	printf 'speedscope.loadFileFromBase64("%s", "%s")' "$1" "$(base64 -w0 "$replay/$1")" \
		>"$work/load.js"
	printf 'const steps = %s;\n' "$2" >"$work/steps.js"
	timeout 100 "$browser" --headless --no-sandbox --disable-dev-shm-usage \
		--use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader \
		--user-data-dir="$work/profile" --window-size=1280,900 \
		--virtual-time-budget=60000 --dump-dom \
		"file://$work/page/index.html#view=sandwich&localProfilePath=${work#/}/load.js" \
		>"$work/out" 2>"$work/err" </dev/null
	sed -n '/<pre id="result">/,/^END/{ s/^.*<pre id="result">//; p; }' "$work/out" \
		>"$work/result"
	if [ ! -s "$work/result" ]; then
		echo "$1: the driver did not come to its end"
		grep -v dbus "$work/err" | tail -n 20
		failed=1
	elif ! grep -q ', 0 problems$' "$work/result"; then
		echo "$1: $(cat "$work/result")"
		failed=1
	else
		echo "$1: $(head -n 1 "$work/result")"
	fi
}

open time.speedscope.json '[
	["all threads (wall) (1/5)", "174.00ms (22%) | 174.00ms (22%) | handle<int>::operator->",
		"24.00ms (3.0%) | 24.00ms (3.0%) | [failed: not stopped in 20 ms]"],
	["server-4242 (2/5)", "174.00ms (60%) | 174.00ms (60%) | handle<int>::operator->"],
	["pool 3/4;x-4243 (3/5)", "144.00ms (50%) | 144.00ms (50%) | [sleeping in futex]",
		"288.00ms (100%) | 0.00ns (<0.01%) | evil; (deep)\\x0a\\x0912 name\\xff\\u2028 7"],
	["#\\x0a-4244 (4/5)", "72.00ms (44%) | 72.00ms (44%) | [waiting for a CPU]"],
	["-4245 (5/5)", "18.00ms (33%) | 0.00ns (<0.01%) | epoll_wait"]]'
open time.perf '[
	["server pid: 4242 tid: 4242 (1/4)", "handle<int>::operator- >"],
	[":4245 pid: 4242 tid: 4245 (2/4)", "[failed: not stopped in 20 ms]"],
	["pool_3/4:x pid: 4242 tid: 4243 (3/4)",
		"282.00ms (100%) | 282.00ms (100%) | __lll_lock_wait"],
	["_\\x0a pid: 4242 tid: 4244 (4/4)", "[anonymous namespace]::work<char (*)(int)>",
		"??? (/nowhere/libstripped.so.1)"]]'
exit $failed
