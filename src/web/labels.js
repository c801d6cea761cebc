/* SPDX-License-Identifier: MIT */
/*
 * labels.js - cuts the names in frames to their width, for the scripts of the HTML page and of the
 * flame graph in a file. The function's name comes first: the module is shown only where the name
 * leaves room for it.
 */
const labels = (() => {
	"use strict";
	/* Width in pixels of a letter, slightly more than in the font of frames, and of the space
	 * around the text of a frame. src/web/flame_svg.c has these values, too. */
	const LETTER = 7.3, SPACE = 6, LEAST = 5;

	const cells = (character) => character.codePointAt(0) >= 0x1100 ? 2 : 1;

	/* Returns the longest beginning of the characters that fits into `room` cells. */
	const head = (characters, room) => {
		let taken = 0, count = 0;
		while (count < characters.length && taken + cells(characters[count]) <= room)
			taken += cells(characters[count++]);
		return characters.slice(0, count);
	};

	/* Returns the name, cut in its middle to a width in pixels; "" if less than 5 letters fit. */
	const fit = (name, width) => {
		const most = Math.floor((width - SPACE) / LETTER), characters = [...name];
		if (most < LEAST)
			return "";
		if (head(characters, most).length === characters.length)
			return name;
		const tail = head([...characters].reverse(), Math.floor((most - 1) / 2)).reverse();
		return [...head(characters, Math.ceil((most - 1) / 2)), "…", ...tail].join("");
	};

	/* Returns the label of a frame: the name, with the module if both fit. */
	const label = (name, module, width) => {
		const both = module ? name + " (" + module + ")" : name;
		return fit(both, width) === both ? both : fit(name, width);
	};

	return { cells, head, fit, label, LETTER };
})();
/* Outside of a browser, tests use these functions. */
if (typeof module !== "undefined")
	module.exports = labels;
