/* SPDX-License-Identifier: MIT */
/*
 * test_scripts.js TOP: what the scripts of pages and pictures compute, without a browser. How they
 * behave on a page is tested by tests/cli/html_page.sh and tests/replay/svg.sh.
 */
"use strict";
const assert = require("node:assert").strict;
const path = require("node:path");
const load = (name) => require(path.resolve(process.argv[2], name));
const report = load("src/web/report.js");
const timeline = load("src/web/timeline.js");
const flame = load("src/format/flame.js");

const tests = {
	"cells of tables are numbers where they can be"() {
		const cells = {
			"1,234": 1234, "12.34s": 12.34, "120ms": 0.12, "10us": 1e-5, "±1.5%": 1.5,
			"9-16": 9, "-": -1, " 3 ": 3, "0": 0,
		};
		for (const [text, value] of Object.entries(cells))
			assert.ok(Math.abs(report.numberOf(text) - value) < 1e-12, text);
		assert.ok(report.numberOf("<0.01%") < 0.01 && report.numberOf("<0.01%") > 0);
		for (const text of ["main", "", "1s2", "12:3"])
			assert.ok(Number.isNaN(report.numberOf(text)), text);
	},

	"times of the flame graph"() {
		assert.equal(report.timeText(5), "5us");
		assert.equal(report.timeText(1500), "1.5ms");
		assert.equal(report.timeText(25400), "25ms");
		assert.equal(report.timeText(2500000), "2.50s");
	},

	/* all -> main (60: work 40, wait 20), idle (40) */
	"a tree is laid out by its weights"() {
		const tree = report.readTree({
			depth: [0, 1, 1, 0], name: [0, 1, 2, 3], value: [60, 40, 20, 40],
			cpu: [10, 10, 0, 0], total: 100, title: "Wall", hidden: 0,
		}, ["main", "work", "wait", "idle"], new Set([1]));
		const [, main, work, wait, idle] = tree.nodes;

		assert.deepEqual([main.from, work.from, wait.from, idle.from], [0, 0, 40, 60]);
		assert.deepEqual([main.depth, work.depth], [1, 2]);
		assert.equal(work.parent, main);
		assert.ok(work.script && !main.script);
		const places = report.layOut(main, 1000);
		assert.deepEqual(places.map((place) => place.node.name).sort(), ["main", "wait", "work"]);
		const placed = places.find((place) => place.node === wait);
		assert.ok(Math.abs(placed.left - 2 / 3) < 1e-9);
		assert.ok(Math.abs(placed.width - 1 / 3) < 1e-9);
		/* narrower than a pixel */
		assert.deepEqual(report.layOut(tree.root, 2).map((place) => place.node.name),
			["all", "main"]);
		/* a match within a match counts once */
		assert.equal(report.sumOfMatches(tree.root, "w"), 60);
		assert.equal(report.sumOfMatches(tree.root, "a"), 100);
		assert.equal(report.sumOfMatches(tree.root, "main"), 60);
		assert.equal(report.sumOfMatches(tree.root, ""), 0);
	},

	"colours tell what ran from what waited"() {
		const hue = (node) => Number(/^hsl\((\d+) /.exec(report.colour(node))[1]);
		const node = (cpu, script) => ({ name: "f", depth: 1, cpu: cpu, script: script });

		assert.ok(hue(node(10)) >= 22 && hue(node(10)) < 48);
		assert.ok(hue(node(1)) >= 75 && hue(node(1)) < 95);
		assert.ok(hue(node(0)) >= 200 && hue(node(0)) < 226);
		assert.ok(hue(node(10, true)) >= 52 && hue(node(10, true)) < 62);
		assert.equal(report.colour(node(3)), report.colour(node(3)));
		assert.equal(report.colour({ name: "all", depth: 0, cpu: 5 }), "hsl(0 0% 78%)");
	},

	/* 4 bins from 0 to 35 us, a gap, 2 bins from 100 us on */
	"bins on a line with a gap"() {
		const line = timeline.makeLine({
			bin_ns: 10000,
			parts: [{ start: 0, end: 35, bins: 4 }, { start: 100, end: 120, bins: 2 }],
		});

		assert.equal(line.bins, 6);
		assert.equal(line.width, 7);
		assert.deepEqual([0, 3, 4, 5].map(line.place), [0, 3, 5, 6]);
		assert.deepEqual([-1, 0, 3.9, 4.5, 5, 6.9, 99].map((x) => line.bin(x)),
			[0, 0, 3, 3, 4, 5, 5]);
		assert.deepEqual([0, 3, 4, 5].map(line.start), [0, 30, 100, 110]);
		assert.deepEqual([0, 3, 4, 5].map(line.end), [10, 35, 110, 120]);
		assert.equal(timeline.steps(line, 10, (bin) => [0, 5, 5, 0, 10, 10][bin]),
			"M1 10V5H3V10ZM5 10V0H7V10Z");
		assert.equal(timeline.steps(line, 10, () => 0), "");
	},

	"times of the timeline"() {
		assert.equal(timeline.timeText(1500000, 10000), "1.50s");
		assert.equal(timeline.timeText(1500000, 5000000), "2s");
		assert.equal(timeline.timeText(0, 1), "0.000000s");
		assert.equal(timeline.durationText(50000), "50ms");
		assert.equal(timeline.durationText(1250000), "1.25s");
		assert.equal(timeline.durationText(7), "7us");
		assert.deepEqual([0.8, 1, 1.2, 3, 6, 20, 21].map(timeline.roundUp), [1, 1, 2, 5, 10, 20, 50]);
	},

	"names of the picture are cut in the middle"() {
		const room = (characters) => characters * 7.3 + 6.5;

		assert.equal(flame.fit("event_loop", room(10)), "event_loop");
		assert.equal(flame.fit("event_loop", room(9)), "even…loop");
		assert.equal(flame.fit("event_loop", room(6)), "eve…op");
		assert.equal(flame.fit("event_loop", room(4)), "");
		/* two cells each */
		assert.deepEqual(flame.head([..."日本語"], 5), ["日", "本"]);
		assert.equal(flame.fit("日本語日本語", room(7)), "日…語");
	},

	"a frame holds what is below it"() {
		const outer = { x: 10, width: 100 };

		assert.ok(flame.holds(outer, { x: 10, width: 100 }));
		assert.ok(flame.holds(outer, { x: 60, width: 50.001 }));
		assert.ok(!flame.holds(outer, { x: 60, width: 51 }));
		assert.ok(!flame.holds(outer, { x: 9, width: 5 }));
	},
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
	try {
		test();
		console.log("ok: " + name);
	} catch (error) {
		console.log("FAILED: " + name + "\n" + error.stack);
		failed++;
	}
}
process.exit(failed > 0 ? 1 : 0);
