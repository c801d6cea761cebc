/* SPDX-License-Identifier: MIT */
/*
 * test_scripts.js TOP: what the scripts of pages and pictures compute, without a browser. How they
 * behave on a page is tested by tests/cli/html_page.sh and tests/replay/svg.sh.
 */
"use strict";
const assert = require("node:assert").strict;
const fs = require("node:fs");
const path = require("node:path");
const load = (name) => require(path.resolve(process.argv[2], name));
const report = load("src/web/report.js");
const timeline = load("src/web/timeline.js");
const flame = load("src/format/flame.js");
const labels = load("src/web/labels.js");
const palette = fs.readFileSync(path.resolve(process.argv[2], "src/web/palette.css"), "utf8");

/* Returns the colours of frames and of the text in them, by class: of light (0) or dark (1). */
function colours(theme) {
	const found = {};
	for (const line of palette.split("\n")) {
		const parts = /light-dark\((#\w{6}), (#\w{6})\)/.exec(line);
		const classes = /^((\.[a-z]|\.match)(, \.[a-z])*) \{/.exec(line);
		if (parts && classes)
			for (const name of classes[1].split(", "))
				found[name.slice(1)] = parts[1 + theme];
		else if (parts && found.ink === undefined)
			found.ink = parts[1 + theme];
	}
	assert.equal(Object.keys(found).length, 12);
	return found;
}

const isWait = (kind) => "wqn".includes(kind);

const linear = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
	.map((x) => x <= 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4));

const luminance = (rgb) => 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];

/* What readers without one kind of cone see, in linear RGB: Machado, Oliveira and Fernandes, "A
 * Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1. */
const VISIONS = {
	normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
	protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
		[-0.003882, -0.048116, 1.051998]],
	deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
		[-0.01182, 0.04294, 0.968881]],
	tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
		[0.004733, 0.691367, 0.3039]],
};

const seen = (colour, matrix) => matrix.map((row) =>
	Math.min(1, Math.max(0, row.reduce((sum, x, i) => sum + x * linear(colour)[i], 0))));

/* Returns the distance of two colours in CIELAB (1976). */
function distance(first, second) {
	const lab = ([r, g, b]) => {
		const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
			luminance([r, g, b]), (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089]
			.map((t) => t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
		return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
	};
	const one = lab(first), other = lab(second);
	return Math.hypot(...one.map((x, i) => x - other[i]));
}

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
			total: 100, title: "Wall", hidden: 0,
		}, {
			names: ["main", "work", "wait", "idle"], kinds: "cpwn", modules: ["server"],
			module: [0, -1, -1, -1],
		});
		const [, main, work, wait, idle] = tree.nodes;

		assert.deepEqual([main.from, work.from, wait.from, idle.from], [0, 0, 40, 60]);
		assert.deepEqual([main.depth, work.depth], [1, 2]);
		assert.equal(work.parent, main);
		assert.deepEqual([main.kind, work.kind, main.module, work.module], ["c", "p", "server", ""]);
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
		assert.equal(report.sumOfMatches(tree.root, "(server)"), 60);
	},

	/* As the Web Content Accessibility Guidelines define contrast. */
	"names can be read on each colour"() {
		for (const theme of [0, 1]) {
			const ink = luminance(linear(colours(theme).ink));
			for (const [kind, colour] of Object.entries(colours(theme))) {
				const pair = [luminance(linear(colour)), ink].sort((a, b) => b - a);
				const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
				assert.ok(kind === "ink" || contrast >= 4.5, `${kind}: ${contrast}`);
			}
		}
	},

	/* Distances in CIELAB. Threads and the root have their places at the edge of the graph. */
	"colours of frames differ for all readers"() {
		for (const theme of [0, 1]) {
			const kinds = Object.entries(colours(theme)).filter(
				([kind]) => !"ink r t".split(" ").includes(kind));
			for (const [vision, matrix] of Object.entries(VISIONS))
				for (const [a, first] of kinds)
					for (const [b, second] of kinds) {
						const far = distance(seen(first, matrix), seen(second, matrix));
						const least = isWait(a) === isWait(b) ? 11 : 15;
						assert.ok(a === b || far >= least,
							`${a} and ${b}, ${vision}: ${far}`);
					}
		}
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

	"names of frames are cut in the middle"() {
		const room = (characters) => characters * 7.3 + 6.5;

		assert.equal(labels.fit("event_loop", room(10)), "event_loop");
		assert.equal(labels.fit("event_loop", room(9)), "even…loop");
		assert.equal(labels.fit("event_loop", room(6)), "eve…op");
		assert.equal(labels.fit("event_loop", room(4)), "");
		/* two cells each */
		assert.deepEqual(labels.head([..."日本語"], 5), ["日", "本"]);
		assert.equal(labels.fit("日本語日本語", room(7)), "日…語");
	},

	"a module takes no room from a name"() {
		const room = (characters) => characters * 7.3 + 6.5;

		assert.equal(labels.label("main", "server", room(13)), "main (server)");
		assert.equal(labels.label("main", "server", room(12)), "main");
		assert.equal(labels.label("event_loop", "libvery_long_name.so.6", room(9)), "even…loop");
		assert.equal(labels.label("[sleeping]", "", room(10)), "[sleeping]");
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
