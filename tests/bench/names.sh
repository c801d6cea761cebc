#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh - how long naming takes: this project, eu-addr2line and addr2line on the same addresses.
#
#     tests/bench/names.sh [FILE [COUNT [SECONDS]]]
#
# FILE is a program or debug file with much DWARF; without one, C++ with many templates is
# compiled (some minutes; about 100 MiB of DWARF). COUNT distinct addresses of its .text (100,000)
# are taken at random and put in order. Each tool may take SECONDS (120; 0: as long as it takes,
# which for eu-addr2line is half an hour and more: it goes through all functions of the unit for
# each address): of one that is not ready then, what it has printed is counted. The names
# are compared as far as both have printed them.
#
# UNITS=N   how many units are compiled (48)
# MOST=N    how many differences are printed (20)
# THEIRS=FILE  what eu-addr2line -a -f -i has printed for the same list before, in place of a run
#
# Where the linker has dropped copies of one function, GNU ld leaves their debug information
# with the address of the copy that it kept: many units say that they have it (readelf
# --debug-dump=aranges). Any is right; we and addr2line take one, eu-addr2line another.
set -u

SOURCE=${SOURCE:-.}
BUILD=${BUILD:-.}
NAMES=$(realpath "${NAMES:-$BUILD/tests/bench/bench_names}") || exit 77
COMPARE=$(realpath "$SOURCE/tests/replay/names_compare.awk") || exit 77
count=${2:-100000}
seconds=${3:-120}
unset DEBUGINFOD_URLS
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
for tool in "$NAMES" eu-addr2line addr2line eu-readelf awk timeout; do
	command -v "$tool" >/dev/null 2>&1 || { echo "no $tool"; exit 77; }
done

# A unit of templates: each has its own types, so that nothing is shared between units.
make_unit() {
	cat <<-UNIT
	#include <algorithm>
	#include <functional>
	#include <map>
	#include <memory>
	#include <regex>
	#include <string>
	#include <unordered_map>
	#include <vector>
	namespace unit_$1 {
	template <int N> struct Key {
		int value;
		bool operator<(const Key &other) const { return value < other.value; }
	};
	template <int N> int work(int n)
	{
		std::map<Key<N>, std::vector<std::string>> all;
		std::vector<Key<N>> keys;
		std::vector<std::function<int(int)>> calls;
		for (int i = 0; i < n; i++) {
			keys.push_back(Key<N>{i * N % 17});
			all[keys.back()].push_back(std::to_string(i));
			calls.push_back([=](int x) { return x + i * N; });
		}
		std::sort(keys.begin(), keys.end());
		int sum = 0;
		for (auto &call : calls)
			sum += call(static_cast<int>(all.size()));
		return sum + work<N - 1>(n);
	}
	template <> int work<0>(int n) { return n; }
	}
	int unit_$1_run(int n)
	{
		std::regex words("[a-z]+$1");
		return unit_$1::work<40>(n) + std::regex_match(std::to_string(n), words);
	}
	UNIT
}

make_file() {
	units=${UNITS:-48}
	i=0
	while [ $i -lt $units ]; do
		make_unit $i > "$scratch/unit_$i.cc"
		g++ -g -O2 -c "$scratch/unit_$i.cc" -o "$scratch/unit_$i.o" || exit 77
		echo "int unit_${i}_run(int);" >> "$scratch/declare"
		echo "sum += unit_${i}_run(argc);" >> "$scratch/call"
		i=$((i + 1))
	done
	{
		cat "$scratch/declare"
		echo "int main(int argc, char **) { int sum = 0;"
		cat "$scratch/call"
		echo "return sum; }"
	} > "$scratch/main.cc"
	g++ -g -O2 "$scratch/main.cc" "$scratch"/unit_*.o -o "$scratch/large" || exit 77
	rm -f "$scratch"/unit_*
}

file=${1:-}
if [ -z "$file" ]; then
	make_file
	file=$scratch/large
fi

eu-readelf -S "$file" | awk '$2 == ".text" || $3 == ".text" {
	for (i = 1; i <= NF; i++) if ($i == "NOBITS" || $i == "PROGBITS") print $(i + 1), $(i + 3) }' > "$scratch/text"
read -r low size < "$scratch/text" || { echo "$file has no .text"; exit 1; }
awk -v low=$((0x$low)) -v size=$((0x$size)) -v count="$count" 'BEGIN {
	srand(1)
	if (count > size)
		count = size
	# Each address with the chance that makes it count in all.
	for (i = 0; i < size && count > 0; i++)
		if (rand() * (size - i) < count) {
			printf "0x%x\n", low + i
			count--
		}
}' > "$scratch/list"
echo "$file: $(du -m "$file" | cut -f 1) MiB, $(wc -l < "$scratch/list") addresses"

# run TOOL COMMAND...: seconds, peak memory, how many were named
run() {
	tool=$1
	shift
	begin=$(date +%s.%N)
	times > "$scratch/before"
	timeout "$seconds" "$@" < "$scratch/list" > "$scratch/$tool.out" 2> "$scratch/$tool.err"
	status=$?
	times > "$scratch/after"
	# The CPU time of our children is in the second line, as "1m2.5s 0m3.4s".
	cpu=$(awk 'function s(t, part) { split(t, part, /[ms]/); return part[1] * 60 + part[2] }
		FNR == 2 { sum[FILENAME] = s($1) + s($2); n++; if (n == 2) printf "%.2f", sum[FILENAME] - first; first = sum[FILENAME] }' \
		"$scratch/before" "$scratch/after")
	end=$(date +%s.%N)
	named=$(grep -c '^0x[0-9a-f]*$' "$scratch/$tool.out")
	awk -v tool="$tool" -v cpu="$cpu" -v begin="$begin" -v end="$end" -v named="$named" -v status=$status 'BEGIN {
		printf "%-14s %8.2f s (%s s of CPU) for %d addresses, %.0f a second%s\n", tool,
			end - begin, cpu, named,
			named / (end - begin), status == 124 ? " (stopped)" : "" }'
}

run bench_names "$NAMES" -a "$file"
sed 's/^/               /' "$scratch/bench_names.err"
run addr2line addr2line -a -f -i -e "$file"
if [ -n "${THEIRS:-}" ]; then
	cp "$THEIRS" "$scratch/eu-addr2line.out" || exit 1
else
	run eu-addr2line eu-addr2line -a -f -i -e "$file"
fi

# addr2line puts the symbol table's name in place of one that is no linkage name (the first time
# it meets the function), so names are compared apart from places.
"$NAMES" -a -p "$file" < "$scratch/list" > "$scratch/plain" 2>/dev/null
echo "against addr2line:"
awk '
	FNR == 1 { file++ }
	/^0x[0-9a-f]+$/ { at = $0; row = 0; if (file == 1) all[++count] = at; else have[at] = 1; next }
	{ sub(/ \(discriminator [0-9]+\)$/, ""); sub(/:\?$/, ":0"); row++ }
	file == 1 { theirs[at] = theirs[at] "\n" $0; if (row % 2 == 0) place[at] = place[at] "\n" $0 }
	file == 2 { ours[at] = ours[at] "\n" $0; if (row % 2 == 0) where[at] = where[at] "\n" $0 }
	END {
		for (i = 1; i <= count; i++) {
			at = all[i]
			if (ours[at] == theirs[at]) same++
			else if (where[at] == place[at]) names++
			else if (ours[at] == "\n??\n??:0") tables++
			else { other++; if (other <= most) printf "%s:%s\nours:%s\n", at, theirs[at], ours[at] }
		}
		printf "%d addresses: %d the same, %d with another name (the symbol table'"'"'s), " \
			"%d by the symbol table only, %d with other places\n", count, same, names, tables, other
	}' most="${MOST:-20}" "$scratch/addr2line.out" "$scratch/plain"

# The last block of a tool that was stopped may not be whole. With 255 addresses before each,
# so that where the row of the line table begins is among them, or the comparison says so.
whole=$(($(grep -c '^0x' "$scratch/eu-addr2line.out") - 1))
awk -v most=$whole '/^0x[0-9a-f]+$/ && ++n > most { exit } { print }' \
	"$scratch/eu-addr2line.out" > "$scratch/theirs"
head -n $whole "$scratch/list" | while read -r address; do echo $((address)); done |
awk '{ for (i = $1 - 255; i <= $1; i++) if (i > last) { printf "0x%x\n", i; last = i } }' |
"$NAMES" -a "$file" > "$scratch/ours" 2>"$scratch/ours.err"
echo "against eu-addr2line (what is allowed for: tests/replay/names_corpus.sh):"
awk -v most="${MOST:-20}" -f "$COMPARE" "$scratch/theirs" "$scratch/ours"
