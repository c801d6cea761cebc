// SPDX-License-Identifier: MIT
// flame.js - zoom, search and keys for the flame graph that svg.c writes. The script reads all data
// of a frame from the element of the frame: its position, and a title with the name, the module,
// and the time with its share. labels.js precedes it.
(() => {
	"use strict";
	const left = 10, width = 1180, near = 0.002;
	const holds = (outer, inner) => outer.x <= inner.x + near &&
		outer.x + outer.width >= inner.x + inner.width - near;

	// Outside of a browser, tests use these functions.
	if (typeof module !== "undefined") {
		module.exports = { holds };
		return;
	}

	const svg = document.currentScript.closest("svg");
	const box = svg.querySelector("#frames");
	const details = svg.querySelector("#details");
	if (!box)
		return;

	const frames = [...box.children].map((element) => {
		const rect = element.querySelector("rect");
		const title = element.querySelector("title").textContent.split("\n");
		return {
			element, rect, title,
			name: title[0],
			module: title.length > 2 ? title[1] : "",
			text: element.querySelector("text"),
			x: Number(rect.getAttribute("x")),
			width: Number(rect.getAttribute("width")),
			y: Number(rect.getAttribute("y")),
			hidden: false,
		};
	});
	const root = frames[0];
	let zoomed = root, current = root;

	const place = (frame, x, room) => {
		const fitted = labels.label(frame.name, frame.module, room);
		frame.rect.setAttribute("x", x);
		frame.rect.setAttribute("width", room);
		if (!frame.text && fitted) {
			frame.text = document.createElementNS(svg.namespaceURI, "text");
			frame.text.setAttribute("y", frame.y + 13);
			frame.element.append(frame.text);
		}
		if (frame.text) {
			frame.text.setAttribute("x", x + 3);
			frame.text.textContent = fitted;
		}
	};

	const show = (frame, shown) => {
		frame.hidden = !shown;
		frame.element.style.display = shown ? "" : "none";
	};

	const zoom = (frame) => {
		zoomed = frame;
		for (const each of frames) {
			const below = each.y > frame.y;
			const shown = below ? holds(each, frame) : holds(frame, each);
			show(each, shown);
			each.element.classList.toggle("dim", shown && below);
			if (shown && below)
				place(each, left, width);
			else if (shown)
				place(each, left + (each.x - frame.x) / frame.width * width,
				      each.width / frame.width * width);
		}
		reset.disabled = frame === root;
		if (current.hidden)
			choose(frame);
	};

	// Shows the title of a frame in one line. The name is cut so that the time and share fit.
	const describe = (frame) => {
		const rest = frame ? frame.title.slice(1).map((text) => " — " + text).join("") : "";
		details.textContent = frame ?
			labels.fit(frame.name, width - rest.length * labels.LETTER) + rest : "";
	};

	// Makes `frame` the one that the Tab key reaches; the arrow keys lead from it to the others.
	const choose = (frame) => {
		current.element.setAttribute("tabindex", "-1");
		current = frame;
		frame.element.setAttribute("tabindex", "0");
	};

	const step = (key) => {
		const level = key === "ArrowUp" ? current.y - root.step :
			key === "ArrowDown" ? current.y + root.step : current.y;
		const there = frames.filter((each) => !each.hidden && each.y === level);
		const at = there.indexOf(current);
		switch (key) {
		case "ArrowUp":
			return there.find((each) => holds(current, each));
		case "ArrowDown":
			return there.find((each) => holds(each, current));
		case "ArrowLeft":
			return there[at - 1];
		default:
			return there[at + 1];
		}
	};

	// Marks the frames that match, and shows their share of the whole. A match that another match
	// has called counts once: a frame precedes its callees in `frames`, from left to right.
	const search = (wanted) => {
		let pattern = null, covered = 0, end = -1;
		if (wanted) {
			try {
				pattern = new RegExp(wanted, "i");
			} catch {
				pattern = { test: (text) => text.toLowerCase().includes(wanted.toLowerCase()) };
			}
		}
		for (const frame of frames) {
			const matches = pattern !== null && frame !== root &&
				frame.title.slice(0, -1).some((text) => pattern.test(text));
			frame.element.classList.toggle("match", matches);
			if (matches && frame.x >= end - near) {
				covered += frame.width;
				end = frame.x + frame.width;
			}
		}
		found.textContent = pattern === null ? "" :
			`matched: ${(covered / root.width * 100).toFixed(2)}%`;
	};

	const make = (parent, name, properties) => {
		const element = document.createElementNS("http://www.w3.org/1999/xhtml", name);
		Object.assign(element, properties);
		parent.append(element);
		return element;
	};

	const holder = document.createElementNS(svg.namespaceURI, "foreignObject");
	for (const [name, value] of Object.entries({ x: 700, y: 8, width: 490, height: 34 }))
		holder.setAttribute(name, value);
	const row = make(holder, "div", {});
	row.style.cssText = "display: flex; gap: 8px; justify-content: flex-end; align-items: center";
	const found = make(row, "output", { id: "found", className: "plain" });
	const input = make(row, "input", { id: "search", type: "search", placeholder: "Search ( / )" });
	input.setAttribute("aria-label", "Search for functions and modules, a regular expression");
	const reset = make(row, "button", { id: "reset", type: "button", textContent: "Reset zoom" });
	reset.disabled = true;
	svg.insertBefore(holder, box);

	root.step = Math.min(...frames.slice(1).map((frame) => root.y - frame.y), Infinity);
	for (const frame of frames) {
		frame.element.setAttribute("tabindex", "-1");
		frame.element.setAttribute("role", "button");
		frame.element.setAttribute("aria-label", frame.title.join(", "));
		frame.element.addEventListener("click", () => {
			choose(frame);
			zoom(frame);
		});
		frame.element.addEventListener("mouseover", () => describe(frame));
		frame.element.addEventListener("mouseout", () => describe(null));
		frame.element.addEventListener("focus", () => {
			choose(frame);
			describe(frame);
		});
	}
	choose(root);
	box.addEventListener("keydown", (event) => {
		const target = frames.find((frame) => frame.element === event.target);
		if (target)
			choose(target);
		if (event.key === "Enter" || event.key === " ") {
			zoom(current);
		} else if (event.key.startsWith("Arrow")) {
			const next = step(event.key);
			if (next) {
				choose(next);
				next.element.focus();
				describe(next);
			}
		} else {
			return;
		}
		event.preventDefault();
	});
	svg.ownerDocument.addEventListener("keydown", (event) => {
		if (event.key === "Escape") {
			input.value = "";
			search("");
			zoom(root);
		} else if (event.key === "/" && event.target !== input) {
			input.focus();
			event.preventDefault();
		}
	});
	input.addEventListener("input", () => search(input.value));
	reset.addEventListener("click", () => zoom(root));
})();
