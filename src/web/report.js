/* SPDX-License-Identifier: MIT */
/*
 * The script of the HTML report: a flame graph of the call trees in #data, tables that a click
 * sorts, and a switch between light and dark. Names are only set as text.
 */
(function () {
	"use strict";
	const ROW = 18, THIN = 24;
	const element = (id) => document.getElementById(id);

	function make(tag, className, text) {
		const node = document.createElement(tag);
		if (className)
			node.className = className;
		if (text !== undefined)
			node.textContent = text;
		return node;
	}

	/* --- light and dark ---------------------------------------------------------- */

	function setUpTheme() {
		const button = element("theme"), themes = ["auto", "light", "dark"];
		let at = 0;
		button.hidden = false;
		button.addEventListener("click", () => {
			at = (at + 1) % themes.length;
			if (at === 0)
				delete document.documentElement.dataset.theme;
			else
				document.documentElement.dataset.theme = themes[at];
			button.textContent = "theme: " + themes[at];
		});
	}

	/* --- tables -------------------------------------------------------------------- */

	/* Returns the number in "1,234", "12.34s", "120ms", "±1.5%", "<0.01%" or "9-16"; -1 for "-";
	 * NaN for any other text. */
	function numberOf(text) {
		const units = { s: 1, ms: 1e-3, us: 1e-6, "%": 1 };
		const parts = /^[<±]?([\d,]*\.?\d+)(?:-\d+)?(s|ms|us|%)?$/.exec(text.trim());
		if (text.trim() === "-")
			return -1;
		if (!parts)
			return NaN;
		return Number(parts[1].replace(/,/g, "")) * (units[parts[2]] || 1) -
			(text.trim()[0] === "<" ? 1e-9 : 0);
	}

	/* Sorts by a column. The first click sorts numbers from the largest, and words from A to
	 * Z. */
	function sortBy(table, column, header) {
		const body = table.tBodies[0], rows = Array.from(body.rows);
		const keys = new Map(rows.map((row) => {
			const text = row.cells[column].textContent;
			return [row, { text: text, number: numberOf(text) }];
		}));
		const numeric = rows.every((row) => !isNaN(keys.get(row).number));
		const before = header.getAttribute("aria-sort");
		const order = before ? (before === "ascending" ? "descending" : "ascending") :
			(numeric ? "descending" : "ascending");
		const sign = order === "ascending" ? 1 : -1;
		rows.sort((a, b) => sign * (numeric ? keys.get(a).number - keys.get(b).number :
			keys.get(a).text.localeCompare(keys.get(b).text)));
		for (const other of table.tHead.rows[0].cells)
			other.removeAttribute("aria-sort");
		header.setAttribute("aria-sort", order);
		body.append(...rows);
	}

	function setUpTable(table) {
		const scroll = make("div", "scroll");
		table.before(scroll);
		scroll.append(table);
		if (!table.tBodies.length)
			return;
		Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
			const title = header.textContent;
			if (title === "")
				return;
			const button = make("button", "", title);
			button.type = "button";
			button.addEventListener("click", () => sortBy(table, column, header));
			header.replaceChildren(button);
		});
	}

	/* --- flame graph ---------------------------------------------------------------- */

	function timeText(us) {
		if (us >= 1e6)
			return (us / 1e6).toFixed(2) + "s";
		return us >= 1e3 ? (us / 1e3).toFixed(us < 1e4 ? 1 : 0) + "ms" : us + "us";
	}

	/* Returns the nodes of a call tree: a parent precedes its children, and siblings are ordered
	 * by weight. The member `from` is where a node begins, in the unit of the weight. */
	function readTree(tree, names, scripts) {
		const root = { name: "all", value: tree.total, depth: 0, from: 0, children: [], cpu: 5 };
		const open = [root];
		const nodes = [root];
		tree.depth.forEach((depth, i) => {
			const parent = open[depth];
			const node = {
				name: names[tree.name[i]], value: tree.value[i], depth: depth + 1,
				cpu: tree.cpu[i], script: scripts.has(tree.name[i]), parent: parent,
				children: [], from: 0,
			};
			const last = parent.children[parent.children.length - 1];
			node.from = last ? last.from + last.value : parent.from;
			parent.children.push(node);
			open[depth + 1] = node;
			nodes.push(node);
		});
		return { root: root, nodes: nodes, title: tree.title, hidden: tree.hidden };
	}

	/*
	 * Returns the colour of a node. Running functions have warm colours, waiting functions cool
	 * colours, and interpreted functions other hues. The tint distinguishes adjacent frames.
	 */
	function colour(node) {
		let hash = 0;
		for (const c of node.name)
			hash = (hash * 31 + c.codePointAt(0)) >>> 0;
		if (node.depth === 0)
			return "hsl(0 0% 78%)";
		const hues = node.script ? [52, 130, 255] : [22, 75, 200];
		const hue = node.cpu >= 5 ? hues[0] + hash % (node.script ? 10 : 26) :
			node.cpu > 0 ? hues[1] + hash % 20 : hues[2] + hash % 26;
		return "hsl(" + hue + " " + (60 + hash % 20) + "% " + (66 + hash % 9) + "%)";
	}

	/* True if the name contains `word`, which is in lower case. "" matches no name. */
	function matches(node, word) {
		return word !== "" && node.name.toLowerCase().includes(word);
	}

	/* Returns the time in functions whose names match. The time of a match that another match
	 * has called counts once. */
	function sumOfMatches(root, word) {
		let sum = 0;
		const stack = [root];
		while (stack.length) {
			const node = stack.pop();
			if (matches(node, word))
				sum += node.value;
			else
				stack.push(...node.children);
		}
		return sum;
	}

	/* Returns `base` and the nodes below it that are at least a pixel wide, with their positions
	 * and widths as shares of the width of `base`. */
	function layOut(base, pixels) {
		const shown = [], stack = [base], whole = base.value || 1;
		while (stack.length) {
			const node = stack.pop(), width = node.value / whole;
			if (width * pixels < 1)
				continue;
			shown.push({ node: node, left: (node.from - base.from) / whole, width: width });
			stack.push(...node.children);
		}
		return shown;
	}

	function setUpFlame() {
		const data = JSON.parse(element("data").textContent);
		const scripts = new Set(data.scripts || []);
		const trees = data.trees.map((tree) => readTree(tree, data.names, scripts));
		const graph = element("graph");
		let tree, zoomed, current, word = "";

		function share(node) {
			return tree.root.value > 0 ?
				(100 * node.value / tree.root.value).toFixed(2) + "%" : "0%";
		}

		function describe(node) {
			element("detail").textContent = node.name + ": " + timeText(node.value) + ", " +
				share(node) + " of " + tree.title;
		}

		function draw() {
			const pixels = graph.clientWidth || 1000;
			const base = zoomed;
			const shown = [];
			const add = (node, left, width, above) => {
				const box = make("div", "frame");
				box.style.left = 100 * left + "%";
				box.style.width = 100 * width + "%";
				box.style.top = node.depth * ROW + "px";
				box.style.background = colour(node);
				if (width * pixels > THIN)
					box.textContent = node.name;
				else
					box.classList.add("thin");
				box.classList.toggle("above", above);
				box.classList.toggle("match", matches(node, word));
				box.classList.toggle("dim", word !== "" && !matches(node, word));
				box.classList.toggle("current", node === current);
				box.title = node.name + "\n" + timeText(node.value) + ", " + share(node);
				box.node = node;
				node.box = box;
				shown.push(box);
			};
			let deepest = base.depth;
			for (const node of tree.nodes)
				node.box = null;
			for (let node = base.parent; node; node = node.parent)
				add(node, 0, 1, true);
			for (const place of layOut(base, pixels)) {
				add(place.node, place.left, place.width, false);
				deepest = Math.max(deepest, place.node.depth);
			}
			graph.style.height = (deepest + 1) * ROW + "px";
			graph.replaceChildren(...shown);
		}

		function search(text) {
			word = text.trim().toLowerCase();
			element("found").textContent = "";
			if (word !== "")
				element("found").textContent = "matched: " +
					(100 * sumOfMatches(tree.root, word) / (tree.root.value || 1)).toFixed(2) + "%";
			draw();
		}

		function zoom(node) {
			zoomed = current = node;
			describe(node);
			draw();
			if (node === tree.root)
				graph.scrollTop = 0;
		}

		function choose(index) {
			tree = trees[index];
			Array.from(element("weights").children).forEach((button, i) =>
				button.setAttribute("aria-pressed", String(i === index)));
			element("hidden-note").textContent = tree.hidden > 0 ? "Left out: " +
				tree.hidden.toLocaleString("en") + " of the smallest frames." : "";
			zoom(tree.root);
			search(element("search").value);
		}

		function select(node) {
			if (!node || !node.box)
				return;
			if (current && current.box)
				current.box.classList.remove("current");
			current = node;
			current.box.classList.add("current");
			current.box.scrollIntoView({ block: "nearest" });
			describe(current);
		}

		function sibling(node, step) {
			const all = node.parent ? node.parent.children : [node];
			return all[all.indexOf(node) + step];
		}

		graph.addEventListener("click", (event) => {
			const box = event.target.closest(".frame");
			if (box)
				zoom(box.node);
		});
		graph.addEventListener("mouseover", (event) => {
			const box = event.target.closest(".frame");
			if (box)
				describe(box.node);
		});
		graph.addEventListener("keydown", (event) => {
			const to = {
				ArrowUp: () => select(current.parent),
				ArrowDown: () => select(current.children[0]),
				ArrowLeft: () => select(sibling(current, -1)),
				ArrowRight: () => select(sibling(current, 1)),
				Home: () => select(zoomed),
				Enter: () => zoom(current),
				" ": () => zoom(current),
				Escape: () => zoom(tree.root),
			}[event.key];
			if (!to)
				return;
			event.preventDefault();
			to();
		});
		document.addEventListener("keydown", (event) => {
			if (event.key !== "/" || event.target === element("search"))
				return;
			event.preventDefault();
			element("search").focus();
		});
		element("search").addEventListener("input", (event) => search(event.target.value));
		element("search").addEventListener("keydown", (event) => {
			if (event.key !== "Escape")
				return;
			event.target.value = "";
			search("");
		});
		element("reset").addEventListener("click", () => zoom(tree.root));
		trees.forEach((one, index) => {
			const button = make("button", "", one.title);
			button.type = "button";
			button.addEventListener("click", () => choose(index));
			element("weights").append(button);
		});
		if (scripts.size > 0)
			element("legend").append(make("li", "script", "the same, for functions in " +
				data.languages));
		element("controls").hidden = element("legend").hidden = false;
		window.addEventListener("resize", draw);
		window.addEventListener("beforeprint", draw);
		choose(data.sort);
	}

	/* Outside of a browser, tests use these functions. */
	if (typeof module !== "undefined") {
		module.exports = { numberOf, timeText, readTree, colour, sumOfMatches, layOut };
		return;
	}
	document.title = document.querySelector("h1").textContent;
	setUpTheme();
	document.querySelectorAll("table").forEach(setUpTable);
	if (element("data"))
		setUpFlame();
})();
