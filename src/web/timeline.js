/* SPDX-License-Identifier: MIT */
/*
 * The script of the timeline: one row per thread, in which each bin of time is filled by state,
 * below a row with the number of threads on a CPU. Threads of several processes are below the name
 * of their process. Rows are drawn once, in the coordinates of bins;
 * a zoom changes the visible window. Names are only set as text.
 */
(function () {
	"use strict";
	const SVG = "http://www.w3.org/2000/svg";
	/* Indices in data.states from the bottom of a row to its top: running first, sleeping
	 * last. */
	const STACK = [0, 1, 5, 7, 3, 4, 6, 2];
	const LABEL = 74, DRAG_LEAST = 5, BINS_LEAST = 4;
	const element = (id) => document.getElementById(id);

	function make(parent, tag, properties, role, label) {
		const node = Object.assign(document.createElement(tag), properties);
		if (role)
			node.setAttribute("role", role);
		if (label)
			node.setAttribute("aria-label", label);
		parent.append(node);
		return node;
	}

	/* --- time ------------------------------------------------------------------------ */

	/* Places bins on a line, with a gap between two parts. The unit of the line is one bin;
	 * a gap has a width in bins, too. */
	function makeLine(data) {
		const unit = data.bin_ns / 1e3;
		const parts = data.parts.map((part) => Object.assign({}, part));
		const gap = Math.max(1, Math.round(
			0.012 * parts.reduce((sum, part) => sum + part.bins, 0)));
		let first = 0, at = 0;
		for (const part of parts) {
			part.first = first;
			part.at = at;
			first += part.bins;
			at += part.bins + gap;
		}
		const partOf = (bin) => parts.find((part) => bin < part.first + part.bins);
		return {
			parts, unit, bins: first, width: at - gap,
			place: (bin) => partOf(bin).at + bin - partOf(bin).first,
			/* Returns the bin at a coordinate; in a gap, the bin before the gap. */
			bin(x) {
				const before = parts.filter((part) => part.at <= x);
				const part = before[before.length - 1] || parts[0];
				return part.first + Math.min(part.bins - 1, Math.max(0,
					Math.floor(x - part.at)));
			},
			/* Return the start and the end of a bin in us. The last bin of a part
			 * ends with the part. */
			start: (bin) => partOf(bin).start + (bin - partOf(bin).first) * unit,
			end: (bin) => Math.min(partOf(bin).end,
				partOf(bin).start + (bin - partOf(bin).first + 1) * unit),
		};
	}

	/* Returns the number of decimals that distinguishes times in seconds that are `us`
	 * apart. */
	const decimals = (us) => Math.min(6, Math.max(0, Math.ceil(6 - Math.log10(us))));

	/* Returns a time in seconds, the unit of --from and --to. */
	const timeText = (us, apart) => (us / 1e6).toFixed(decimals(apart)) + "s";

	/* Returns "50ms" or "1.25s". */
	function durationText(us) {
		const [unit, name] = us >= 1e6 ? [1e6, "s"] : us >= 1e3 ? [1e3, "ms"] : [1, "us"];
		return Number((us / unit).toPrecision(3)) + name;
	}

	/* Returns the smallest of the numbers 1, 2, 5, 10, 20, 50, … that is not less than `us`. */
	function roundUp(us) {
		const ten = Math.pow(10, Math.floor(Math.log10(us)));
		return [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= us * 0.999);
	}

	const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });

	/* --- shapes ------------------------------------------------------------------------ */

	/* Returns the area below a step line, whose height at a bin is of(bin). The top of a row
	 * is 0. */
	function steps(line, height, of) {
		const path = [];
		for (const part of line.parts) {
			const end = part.at + part.bins;
			let level = 0;
			for (let x = part.at; x <= end; x++) {
				const next = x < end ? of(part.first + x - part.at) : 0;
				if (next === level)
					continue;
				path.push(level === 0 ? "M" + x + " " + height : "H" + x, "V" +
					Number((height - next).toFixed(2)), next === 0 ? "Z" : "");
				level = next;
			}
		}
		return path.join("");
	}

	/* Adds a shape with the colour of a class of palette.css. */
	function addShape(svg, path, colour) {
		const shape = document.createElementNS(SVG, "path");
		shape.setAttribute("d", path);
		shape.setAttribute("class", colour);
		svg.append(shape);
	}

	/* Adds an area for each state, of the height of(state, bin), one upon the other. The
	 * highest sum is drawn first, and lower sums over it. */
	function addStack(svg, line, height, states, of) {
		const sums = new Array(line.bins).fill(0), shapes = [];
		for (const state of STACK) {
			if (!states[state] || !states[state].length)
				continue;
			for (let bin = 0; bin < line.bins; bin++)
				sums[bin] += of(state, bin);
			shapes.push([steps(line, height, (bin) => sums[bin]), state]);
		}
		for (const [path, state] of shapes.reverse())
			addShape(svg, path, "s" + state);
	}

	/* --- the whole ----------------------------------------------------------------------- */

	function setUp() {
		const data = JSON.parse(element("timeline-data").textContent);
		const figure = element("timeline-figure"), line = makeLine(data);
		const rows = [];
		/* `from` and `to` are the ends of the visible window in coordinates of the line,
		 * `current` is the row and the bin at the pointer. */
		let from = 0, to = line.width, current = { row: 0, bin: 0 }, pointed = false, drag = null;

		/* --- text about a bin --- */

		function whenText(bin) {
			return timeText(line.start(bin), line.unit) + " to " +
				timeText(line.end(bin), line.unit);
		}

		function loadText(bin) {
			if (data.mean[bin] < 0)
				return "this time is not selected";
			return "on a CPU at once: " + number(data.mean[bin] / 100) + " on average, at most " +
				data.most[bin] + (data.cpus ? ", of " + number(data.cpus) +
					(data.cpus === 1 ? " CPU" : " CPUs") : "");
		}

		const digit = (thread, state, bin) => parseInt(thread.shares[state][bin] || "0", 36);

		/* A task has no tid, and its name includes its id. */
		const threadLabel = (thread) =>
			thread.name + (thread.tid === "" ? "" : " (" + thread.tid + ")");

		function threadText(thread, bin) {
			const shares = data.states.map((state, i) => [digit(thread, i, bin), state])
				.filter((share) => share[0] > 0)
				.map((share) => Math.round(100 * share[0] / data.steps) + "% " + share[1]);
			const held = heldBy(data.threads.indexOf(thread), bin);
			const process = data.processes ? " of " + data.processes[thread.process] : "";
			return threadLabel(thread) + process + ": " +
				(shares.join(", ") || "absent, or not selected") +
				(held ? ", held the GIL for " + Math.round(100 * held / data.steps) + "%" : "");
		}

		/* Returns the part of a bin, in units of 1 / data.steps, in which a thread held the
		 * lock. The index after the last thread stands for the threads without a row. */
		const heldBy = (thread, bin) =>
			parseInt(data.gil && data.gil[thread] && data.gil[thread][bin] || "0", 36);

		function gilText(bin) {
			const held = data.gil.map((_, i) => [heldBy(i, bin), i])
				.filter((share) => share[0] > 0).sort((a, b) => b[0] - a[0])
				.map(([share, i]) => Math.round(100 * share / data.steps) + "% " +
					(i < data.threads.length ? threadLabel(data.threads[i]) : "other threads"));
			return "the GIL was held by: " + (held.join(", ") || "no thread");
		}

		function restText(bin) {
			const counts = data.states.map((state, i) => [data.rest.states[i][bin] || 0, state])
				.filter((count) => count[0] > 0)
				.map((count) => number(count[0] / 100) + " " + count[1]);
			return rows[rows.length - 1].title + ": " + (counts.join(", ") || "none present");
		}

		function describe(at) {
			const text = rows[at.row].text(at.bin), load = loadText(at.bin);
			element("timeline-detail").textContent = whenText(at.bin) + ", " + text +
				(at.row > 0 ? "; " + load : "");
		}

		/* --- rows --- */

		function addRow(title, detail, height, tall) {
			const box = make(plot, "div", { className: "timeline-row" });
			const name = make(box, "span", { className: "timeline-name" });
			const svg = document.createElementNS(SVG, "svg");
			name.title = title + " " + detail;
			make(name, "span", { textContent: title });
			make(name, "small", { textContent: detail });
			box.classList.toggle("tall", tall);
			box.row = rows.length;
			svg.setAttribute("preserveAspectRatio", "none");
			svg.setAttribute("aria-hidden", "true");
			box.append(svg);
			rows.push({ box, svg, height, title });
			return rows[rows.length - 1];
		}

		function addLoad() {
			const most = Math.max(...data.most);
			/* A scale up to all CPUs would be flat if few CPUs were ever in use. */
			const near = data.cpus > 0 && data.cpus <= Math.max(2, 4 * most);
			const top = Math.max(1, most, near ? data.cpus : 0);
			const row = addRow("on a CPU", "at most " + most + (data.cpus ? " of " +
				number(data.cpus) : ""), top * 1.08, true);
			row.text = loadText;
			addShape(row.svg, steps(line, row.height, (bin) => data.most[bin]), "at-most");
			addShape(row.svg, steps(line, row.height, (bin) => Math.max(0, data.mean[bin]) / 100),
				"at-once");
			if (!near)
				return;
			const cpus = document.createElementNS(SVG, "path");
			cpus.setAttribute("class", "cpus");
			cpus.setAttribute("vector-effect", "non-scaling-stroke");
			cpus.setAttribute("d", "M0 " + (row.height - data.cpus) + "H" + line.width);
			row.svg.append(cpus);
		}

		/* Adds the row of lock holders. The areas of the holders lie one upon the other;
		 * adjacent areas have different colours. */
		function addGil() {
			const row = addRow("GIL", "holder", data.steps, false);
			const sums = new Array(line.bins).fill(0), shapes = [];
			row.text = gilText;
			data.gil.forEach((digits, i) => {
				if (!digits.length)
					return;
				for (let bin = 0; bin < line.bins; bin++)
					sums[bin] += heldBy(i, bin);
				shapes.push([steps(line, row.height, (bin) => sums[bin]),
					"h" + shapes.length % 3]);
			});
			for (const [path, colour] of shapes.reverse())
				addShape(row.svg, path, colour);
		}

		function addThread(thread) {
			const row = addRow(thread.name, String(thread.tid), data.steps, false);
			row.text = (bin) => threadText(thread, bin);
			addStack(row.svg, line, row.height, thread.shares,
				(state, bin) => digit(thread, state, bin));
		}

		function addRest(rest) {
			const sums = data.mean.map((_, bin) => rest.states.reduce(
				(sum, counts) => sum + (counts[bin] || 0), 0));
			const most = Math.max(1, ...sums);
			const row = addRow(number(rest.count) + " other" + (
				data.threads.some((thread) => thread.tid === "") ? "s" :
				rest.count === 1 ? " thread" : " threads"), "up to " + number(most / 100), most, true);
			row.text = restText;
			addStack(row.svg, line, row.height, rest.states,
				(state, bin) => rest.states[state][bin] || 0);
		}

		/* --- the time axis --- */

		const axes = [];

		function addLabel(axis, x, text, className) {
			const label = make(axis, "span", { className, textContent: text });
			label.style.left = 100 * (x - from) / (to - from) + "%";
		}

		function drawAxis(axis) {
			const perBin = axis.clientWidth / (to - from) || 1;
			const step = roundUp(LABEL / perBin * line.unit);
			const room = 0.6 * LABEL / perBin;
			axis.replaceChildren();
			line.parts.forEach((part, i) => {
				const place = (us) => part.at + (us - part.start) / line.unit;
				const end = Math.min(to, part.at + part.bins);
				let free = from;
				if (i > 0 && part.at >= from && part.at < to) {
					addLabel(axis, part.at, timeText(part.start, step), "part");
					free = part.at + room;
				}
				for (let n = Math.ceil(part.start / step); n * step < part.end; n++) {
					const x = place(n * step);
					if (x >= free && x + room <= end)
						addLabel(axis, x, timeText(n * step, step), "");
				}
			});
		}

		function drawCursor() {
			if (!pointed)
				return;
			const cursor = element("timeline-cursor").style, x = line.place(current.bin);
			element("timeline-cursor").hidden = false;
			cursor.left = 100 * (x - from) / (to - from) + "%";
			cursor.width = 100 / (to - from) + "%";
			rows.forEach((row, i) => row.box.classList.toggle("current", i === current.row));
		}

		function draw() {
			for (const row of rows)
				row.svg.setAttribute("viewBox", from + " 0 " + (to - from) + " " + row.height);
			axes.forEach(drawAxis);
			drawCursor();
			element("timeline-whole").disabled = from === 0 && to === line.width;
			element("timeline-out").disabled = from === 0 && to === line.width;
			element("timeline-in").disabled = to - from <= BINS_LEAST;
		}

		/* --- pointer, wheel and keys --- */

		function show(left, right) {
			const width = Math.min(line.width, Math.max(BINS_LEAST, right - left));
			const middle = (left + right) / 2;
			from = Math.min(line.width - width, Math.max(0, Math.round(middle - width / 2)));
			to = from + width;
			draw();
		}

		const whole = () => show(0, line.width);

		function zoom(factor) {
			const x = line.place(current.bin) + 0.5, width = (to - from) * factor;
			/* The bin at the pointer stays in place. */
			const left = x - (x - from) * factor;
			show(Math.round(left), Math.round(left + width));
		}

		function go(row, bin) {
			pointed = true;
			current = {
				row: Math.min(rows.length - 1, Math.max(0, row)),
				bin: Math.min(line.bins - 1, Math.max(0, bin)),
			};
			const x = line.place(current.bin);
			if (x < from || x + 1 > to)
				show(x < from ? x : x + 1 - (to - from), x < from ? x + to - from : x + 1);
			drawCursor();
			describe(current);
		}

		function select(row, bin) {
			go(row, bin);
			rows[current.row].box.scrollIntoView({ block: "nearest" });
		}

		const xOf = (event) => {
			const box = element("timeline-over").getBoundingClientRect();
			const part = (event.clientX - box.left) / (box.width || 1);
			return from + Math.min(1, Math.max(0, part)) * (to - from);
		};

		function drawRange() {
			const range = element("timeline-range");
			range.hidden = drag === null || !drag.far;
			if (range.hidden)
				return;
			const left = Math.min(drag.x, drag.to), right = Math.max(drag.x, drag.to);
			range.style.left = 100 * (left - from) / (to - from) + "%";
			range.style.width = 100 * (right - left) / (to - from) + "%";
			element("timeline-detail").textContent =
				timeText(line.start(line.bin(left)), line.unit) + " to " +
				timeText(line.end(line.bin(right)), line.unit);
		}

		function endDrag(use) {
			const done = drag;
			drag = null;
			drawRange();
			if (done && done.far && use)
				show(Math.floor(Math.min(done.x, done.to)), Math.ceil(Math.max(done.x, done.to)));
		}

		function listen() {
			plot.addEventListener("pointerdown", (event) => {
				if (event.button === 0)
					drag = { x: xOf(event), to: xOf(event), pixel: event.clientX, far: false };
			});
			/* A drag continues outside of the plot. */
			window.addEventListener("pointermove", (event) => {
				const box = event.target.closest && event.target.closest(".timeline-row");
				if (drag && Math.abs(event.clientX - drag.pixel) >= DRAG_LEAST)
					drag.far = true;
				if (drag && drag.far) {
					drag.to = xOf(event);
					drawRange();
				} else if (box) {
					go(box.row, line.bin(xOf(event)));
				}
			});
			window.addEventListener("pointerup", () => endDrag(true));
			window.addEventListener("pointercancel", () => endDrag(false));
			plot.addEventListener("keydown", (event) => {
				const far = event.shiftKey ? 10 : 1;
				const to_do = {
					ArrowUp: () => select(current.row - 1, current.bin),
					ArrowDown: () => select(current.row + 1, current.bin),
					ArrowLeft: () => select(current.row, current.bin - far),
					ArrowRight: () => select(current.row, current.bin + far),
					Home: () => select(current.row, line.bin(from)),
					End: () => select(current.row, line.bin(to - 1)),
					"+": () => zoom(0.5),
					"=": () => zoom(0.5),
					Enter: () => zoom(0.5),
					"-": () => zoom(2),
					Escape: () => drag ? endDrag(false) : whole(),
				}[event.key];
				if (!to_do || event.ctrlKey || event.altKey || event.metaKey)
					return;
				event.preventDefault();
				to_do();
			});
			plot.addEventListener("focus", () => go(current.row, current.bin));
			element("timeline-in").addEventListener("click", () => zoom(0.5));
			element("timeline-out").addEventListener("click", () => zoom(2));
			element("timeline-whole").addEventListener("click", whole);
			window.addEventListener("resize", draw);
			window.addEventListener("beforeprint", draw);
		}

		/* --- controls and legend --- */

		function addLegend(parent) {
			const legend = make(parent, "span", { id: "timeline-legend" });
			for (const state of STACK) {
				const used = state < data.states.length &&
					(data.threads.some((thread) => thread.shares[state].length) ||
						(data.rest && data.rest.states[state].length));
				if (!used)
					continue;
				const entry = make(legend, "span", {});
				make(entry, "i", { className: "s" + state });
				entry.append(data.states[state]);
			}
		}

		function addButton(parent, id, text, label) {
			make(parent, "button", { id, type: "button", textContent: text }, "", label);
		}

		function addTop() {
			const top = make(figure, "div", { id: "timeline-top" });
			const controls = make(top, "div", { id: "timeline-controls" });
			addLegend(controls);
			const buttons = make(controls, "span", { id: "timeline-buttons" });
			addButton(buttons, "timeline-in", "+", "zoom in");
			addButton(buttons, "timeline-out", "−", "zoom out");
			addButton(buttons, "timeline-whole", "whole", "the whole timeline");
			make(top, "p", { id: "timeline-detail" }, "status");
		}

		function addNotes() {
			const notes = ["Each row is filled, from below, by the share of time in each state; " +
				"one step to the right is " + durationText(line.unit) + "."];
			if (data.recordings === 1)
				notes.push("Times are those of --from and --to.");
			else
				notes.push("Times are since the first recording began.");
			if (line.parts.length > 1)
				notes.push("Double lines stand for time that was not recorded.");
			if (data.gil)
				notes.push("The row GIL shows for which share of time threads held the " +
					"interpreter's lock, each in a shade of its own.");
			if (data.rest)
				notes.push("The threads that ran most have rows of their own; the last row " +
					"shows how many of the others were in each state.");
			make(figure, "p", { textContent: notes.join(" ") });
		}

		addTop();
		const plot = make(figure, "div", { id: "timeline-plot", tabIndex: 0 }, "application",
			"Timeline: arrow keys go from thread to thread and through time, with Shift in " +
			"large steps, plus and minus zoom, Escape shows the whole");
		addLoad();
		axes.push(make(plot, "div", { className: "timeline-axis" }));
		if (data.gil)
			addGil();
		data.threads.forEach((thread, i) => {
			if (data.processes && (i === 0 || thread.process !== data.threads[i - 1].process))
				make(plot, "div", { className: "timeline-process",
					textContent: data.processes[thread.process] });
			addThread(thread);
		});
		if (data.rest)
			addRest(data.rest);
		axes.push(make(plot, "div", { className: "timeline-axis" }));
		const over = make(plot, "div", { id: "timeline-over" });
		make(over, "div", { id: "timeline-cursor", hidden: true });
		make(over, "div", { id: "timeline-range", hidden: true });
		addNotes();
		listen();
		figure.hidden = false;
		draw();
		element("timeline-detail").textContent = "Drag over a range to zoom into it; point at a " +
			"row, or use the arrow keys, for what it shows.";
	}

	/* Outside of a browser, tests use these functions. */
	if (typeof module !== "undefined")
		module.exports = { makeLine, timeText, durationText, roundUp, steps };
	else if (element("timeline-data"))
		setUp();
})();
