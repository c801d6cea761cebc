# SPDX-License-Identifier: MIT
# names_compare.awk - compares eu-addr2line -a -f -i (first file) with bench_names -a (second).
#
# The differences that are allowed for are listed in names_corpus.sh, by number.
# Ours may have addresses more: those before an address of theirs are where its row may begin.
# most: how many differences are printed (20).
# mode: "whole", "lines" (no functions are expected of us), "stripped" (as "whole").

function fail(what) {
	if (++failures <= (most ? most : 20))
		printf "%s: %s\n  theirs: %s\n  ours:   %s\n", address, what, their, our
}

# Blocks are kept as one text, lines divided by "\n". 1: columns are cut off.
function add(line) {
	if (line ~ /^0x[0-9a-f]+$/) {
		at = line
		count[file]++
		order[file, count[file]] = at
		first[file, at] = ""
		place[file, at] = ""
		chain[file, at] = ""
		row = 0
		return
	}
	gsub(/\(inlined by\) /, "", line)
	while (match(line, /:[0-9]+:[0-9]+( in |$)/)) {
		piece = substr(line, RSTART, RLENGTH)
		rest = substr(line, RSTART + RLENGTH)
		split(piece, part, ":")
		sub(/[0-9]+/, "", part[3])
		line = substr(line, 1, RSTART - 1) ":" part[2] part[3] rest
	}
	# A line that is 0 is left out here.
	if (sub(/ inlined from /, " inlined at ", line))
		sub(/ in /, ":0 in ", line)
	row++
	if (row == 1)
		first[file, at] = line
	else if (row == 2)
		place[file, at] = line
	else
		chain[file, at] = chain[file, at] line "\n"
}

FNR == 1 { file++ }
{ add($0) }

# 2: what is compared of a first line.
function inner(line, cut) {
	cut = index(line, " inlined at ")
	return cut > 0 && match(line, /:[0-9]+ in /) ? substr(line, 1, RSTART + RLENGTH - 5) : line
}

function outermost(key, lines, n) {
	if (chain[key] == "")
		return first[key]
	n = split(chain[key], lines, "\n")
	return lines[n - 2]
}

# The symbol's name is DWARF's, perhaps of a part or a copy that the compiler made.
function same_function(symbol, name) {
	if (name !~ /^_[ZR]/)
		return 1
	sub(/\..*/, "", symbol)
	# Constructors and destructors: C4, C1, C2 are one in DWARF.
	gsub(/C[1-4]E/, "CE", symbol)
	gsub(/C[1-4]E/, "CE", name)
	gsub(/D[0-4]E/, "DE", symbol)
	gsub(/D[0-4]E/, "DE", name)
	sub(/\..*/, "", name)
	return symbol == name
}

END {
	for (i = 1; i <= count[2]; i++) {
		address = order[2, i]
		e = 1 SUBSEP address
		o = 2 SUBSEP address
		# 3: what we said in this run of the same place.
		if (place[o] != run_place)
			run_count = 0
		run_place = place[o]
		run[run_count++] = chain[o]
		if (place[o] != "??:0")
			known_place = place[o]
		if (!(e in first))
			continue
		compared++
		their = first[e] " | " place[e] " | " chain[e]
		our = first[o] " | " place[o] " | " chain[o]
		gsub(/\n/, " | ", their)
		gsub(/\n/, " | ", our)
		sub(/^\?\?\?:/, "??:", place[e])
		# 8: the row of the last address that we knew goes on behind the unit's end.
		if (first[o] == "??" && place[o] == "??:0" && place[e] == known_place &&
		    chain[e] == "") {
			gaps++
			continue
		}
		if (place[e] != place[o]) {
			fail("place")
			continue
		}
		if (mode == "lines")
			continue
		theirs_inlined = index(first[e], " inlined at ") > 0
		ours_inlined = index(first[o], " inlined at ") > 0
		if (first[o] == "??") {
			unnamed++ # 5
			if (theirs_inlined || (first[e] != "??" && place[e] != "??:0"))
				fail("not found")
			continue
		}
		if (!theirs_inlined && (ours_inlined || first[e] != first[o])) {
			deeper++ # 4
			if (!same_function(first[e], outermost(o)))
				fail("function by symbol")
			continue
		}
		if (inner(first[e]) != inner(first[o])) {
			fail("function")
			continue
		}
		inlined += ours_inlined
		for (j = 0; j < run_count && run[j] != chain[e]; j++)
			;
		if (j == run_count)
			fail("inlined")
		else if (chain[e] != chain[o])
			elsewhere++ # 3
	}
	if (compared != count[1] || compared == 0) {
		printf "%d of %d addresses compared\n", compared, count[1]
		exit 1
	}
	printf "%d addresses, %d in inlined functions; allowed for: %d without DWARF, " \
		"%d known to us only, %d by the row's begin, %d behind a unit; %d wrong\n",
		compared, inlined, unnamed, deeper, elsewhere, gaps, failures
	exit failures > 0
}
