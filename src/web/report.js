/* SPDX-License-Identifier: MIT */
/*
 * The script of the HTML report: a flame graph of the call trees in #data, tables that a click
 * sorts, and a switch between light and dark. Names are only set as text. labels.js precedes it.
 */
(function () {
	"use strict";
	/* In pixels: the height of a level on a screen, the least height of a level on paper, and the
	 * size of the graph on a page, A4 or letter. */
	const ROW = 18, ROW_LEAST = 9, PAPER_HEIGHT = 590, PAPER_WIDTH = 950;
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
	 * by weight. The member `from` is where a node begins, in the unit of the weight; `kind` is
	 * the class that has the colour. */
	function readTree(tree, data) {
		const root = { name: "all", module: "", kind: "r", value: tree.total, depth: 0, from: 0,
			children: [] };
		const open = [root];
		const nodes = [root];
		tree.depth.forEach((depth, i) => {
			const parent = open[depth], name = tree.name[i];
			const node = {
				name: data.names[name], module: data.modules[data.module[name]] || "",
				kind: data.kinds[name], value: tree.value[i], depth: depth + 1,
				parent: parent, children: [], from: 0,
			};
			const last = parent.children[parent.children.length - 1];
			node.from = last ? last.from + last.value : parent.from;
			parent.children.push(node);
			open[depth + 1] = node;
			nodes.push(node);
		});
		return { root: root, nodes: nodes, title: tree.title, hidden: tree.hidden };
	}

	/* Returns "name (module)". */
	function fullName(node) {
		return node.module ? node.name + " (" + node.module + ")" : node.name;
	}

	/* True if the name, with its module, contains `word`, which is in lower case. "" matches no
	 * name. */
	function matches(node, word) {
		return word !== "" && fullName(node).toLowerCase().includes(word);
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
		const trees = data.trees.map((tree) => readTree(tree, data));
		const graph = element("graph");
		let tree, zoomed, current, word = "";

		function share(node) {
			return tree.root.value > 0 ?
				(100 * node.value / tree.root.value).toFixed(2) + "%" : "0%";
		}

		function describe(node) {
			element("detail").textContent = fullName(node) + ": " + timeText(node.value) + ", " +
				share(node) + " of " + tree.title;
		}

		/* Draws the graph for a width in pixels: levels are `row` pixels high. Returns the number
		 * of levels. */
		function drawRows(row, pixels) {
			const base = zoomed;
			const shown = [];
			const add = (node, left, width, above) => {
				const text = labels.label(node.name, node.module, width * pixels);
				const box = make("div", "frame " + node.kind);
				box.style.left = 100 * left + "%";
				box.style.width = 100 * width + "%";
				box.style.top = node.depth * row + "px";
				if (text)
					box.append(make("span", "", text));
				else
					box.classList.add("thin");
				box.classList.toggle("above", above);
				box.classList.toggle("match", matches(node, word));
				box.classList.toggle("dim", word !== "" && !matches(node, word));
				box.classList.toggle("current", node === current);
				box.title = node.name + "\n" + (node.module ? node.module + "\n" : "") +
					timeText(node.value) + ", " + share(node);
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
			graph.style.setProperty("--row", row + "px");
			graph.style.height = (deepest + 1) * row + "px";
			graph.replaceChildren(...shown);
			return deepest + 1;
		}

		const draw = () => drawRows(ROW, graph.clientWidth || 1000);

		/* Lowers the levels so that the graph fits on a page, if they are not too many. */
		function drawForPaper() {
			const levels = drawRows(ROW, PAPER_WIDTH);
			const row = Math.max(ROW_LEAST, Math.floor(PAPER_HEIGHT / levels));
			drawRows(Math.min(ROW, row), PAPER_WIDTH);
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
		element("controls").hidden = element("legend").hidden = false;
		window.addEventListener("resize", draw);
		window.addEventListener("beforeprint", drawForPaper);
		window.addEventListener("afterprint", draw);
		choose(data.sort);
	}

	/* Outside of a browser, tests use these functions. */
	if (typeof module !== "undefined") {
		module.exports = { numberOf, timeText, readTree, sumOfMatches, layOut };
		return;
	}
	document.title = document.querySelector("h1").textContent;
	setUpTheme();
	document.querySelectorAll("table").forEach(setUpTable);
	if (element("data"))
		setUpFlame();
})();
