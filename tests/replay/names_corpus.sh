#!/bin/sh
# SPDX-License-Identifier: MIT
# names_corpus.sh - every instruction of small programs, built in many ways, is named as eu-addr2line names it.
#
# Each program is built with debug information in a form that is asked about (PROGRAM), and
# the same code in a form that eu-addr2line can read (REFERENCE), often the same file. Then
# the address of each instruction of .text is named by both.
#
# What differs by design of eu-addr2line (0.188), and is allowed for by names_compare.awk:
#  1. It prints columns. They are cut off.
#  2. After "X inlined at FILE:LINE in" it prints the symbol table's name of the function
#     (with .cold, .constprop.0), not DWARF's: only what is before that is compared.
#  3. What -i adds is looked up for the address where the row of the line table begins that
#     holds the address, not for the address itself: it must be what we say for the
#     address, or for one before it in the same run of the same file and line.
#  4. It does not look into functions that are written in a namespace, class or function that has
#     no code of its own (all of Rust; local functions): then it has the symbol table's name
#     and no inlined functions; so it has for gcc's -flto, whose functions refer to other units.
#     It proves nothing there but the outermost function. These are many (most of -flto), so
#     llvm-symbolizer is asked too, for every address: inner names and all places must be equal.
#     Without llvm-symbolizer such addresses are said to be unproven.
#  5. Where no DWARF has a function it asks the symbol table, and we say "??".
#  6. It looks for units in .debug_aranges, which clang does not write: REFERENCE has it.
#  7. It does not read split DWARF's functions: REFERENCE is not split.
#  8. Its .debug_aranges have no gaps: behind a unit's last address it goes on as in the unit,
#     where the last row of the line table that has no end of its sequence behind it goes on.
set -u

SOURCE=${SOURCE:-.}
BUILD=${BUILD:-.}
NAMES=${NAMES:-$BUILD/tests/bench/bench_names}
MAKE_DWP=${MAKE_DWP:-$BUILD/tests/bench/make_dwp}
COMPARE=$SOURCE/tests/replay/names_compare.awk
CORPUS=$SOURCE/tests/replay/names
[ -x "$NAMES" ] || { echo "no $NAMES"; exit 77; }
for tool in gcc g++ eu-addr2line objdump objcopy awk find timeout; do
	command -v "$tool" >/dev/null 2>&1 || { echo "no $tool"; exit 77; }
done
COMPARE=$(realpath "$COMPARE") && CORPUS=$(realpath "$CORPUS") && NAMES=$(realpath "$NAMES") &&
	MAKE_DWP=$(realpath "$MAKE_DWP") || exit 1
# Every address of every program takes minutes; under the sanitizers, tests/unit/dwarf/test_dwarf_lines
# and tests/fuzz look for what they find.
if nm "$NAMES" 2>/dev/null | grep -q __asan_init; then
	echo 'left out: too slow with the address sanitizer'
	exit 77
fi
# debuginfod must not be asked.
unset DEBUGINFOD_URLS
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
done_count=0
LLVM=
for tool in llvm-symbolizer llvm-symbolizer-14; do
	[ -n "$LLVM" ] || LLVM=$(command -v "$tool")
done

have() {
	command -v "$1" >/dev/null 2>&1
}

# addresses PROGRAM: each instruction of .text
addresses() {
	objdump -d -j .text --no-show-raw-insn "$1" |
	awk '/^ *[0-9a-f]+:\t/ { sub(/:.*/, ""); print "0x" $1 }'
}

# second PROGRAM REFERENCE MODE: the whole chains against llvm-symbolizer's; says so in `proof`
second() {
	if [ "$3" = lines ]; then
		echo "lines only" > proof
		return 0
	fi
	if [ -z "$LLVM" ]; then
		echo "no llvm-symbolizer: what is known to us only is UNPROVEN" > proof
		return 0
	fi
	"$LLVM" -a --no-demangle --functions=linkage --inlines --output-style=GNU --obj="$2" < list > llvm
	"$NAMES" -a -p -d . "$1" < list > chains 2>/dev/null
	awk '
		FNR == 1 { file++ }
		/^0x[0-9a-f]+$/ { at = $0; sub(/^0x0*/, "", at); row = 0; if (file == 2) all[++count] = at; next }
		NF == 0 { next }
		{ sub(/ \(discriminator [0-9]+\)$/, ""); sub(/:\?$/, ":0"); line[file, at, ++row] = $0; rows[file, at] = row }
		END {
			for (i = 1; i <= count; i++) {
				at = all[i]
				if (line[2, at, 1] == "??")
					continue
				asked++
				n = rows[2, at]
				bad = rows[1, at] != n
				# The outermost name may be of the symbol table, and is not compared.
				for (j = 1; j <= n; j++)
					bad += j != n - 1 && line[1, at, j] != line[2, at, j]
				if (bad && ++wrong <= 3)
					printf "0x%s: llvm: %s | %s; ours: %s | %s\n", at, line[1, at, 1],
						line[1, at, 2], line[2, at, 1], line[2, at, 2]
			}
			printf "llvm-symbolizer: %d chains, %d wrong\n", asked, wrong
			exit wrong > 0 || asked == 0
		}' llvm chains > proof
}

# check WHAT PROGRAM REFERENCE [lines]: with "lines", no functions are expected of PROGRAM
check() {
	if [ "$2" != "$3" ] && [ "${4:-}" != stripped ]; then
		objcopy -O binary -j .text "$2" ours.text
		objcopy -O binary -j .text "$3" theirs.text
		if ! cmp -s ours.text theirs.text; then
			echo "skipped: $1: the reference's code is another"
			return
		fi
	fi
	addresses "$3" > list
	eu-addr2line -a -f -i -e "$3" < list > theirs 2>theirs.err
	"$NAMES" -a -d . "$2" < list > ours 2>ours.err || { echo "FAILED: $1: bench_names"; failed=1; return; }
	if awk -v mode="${4:-whole}" -f "$COMPARE" theirs ours > result && second "$2" "$3" "${4:-whole}"; then
		echo "ok: $1: $(tail -n 1 result); $(cat proof)"
	else
		echo "FAILED: $1"
		head -n 60 result
		cat proof 2>/dev/null
		failed=1
	fi
	done_count=$((done_count + 1))
}

# build NAME COMPILER FLAGS...: C or C++ by the compiler's name
build() {
	out=$1
	compiler=$2
	shift 2
	case $compiler in
	*++) set -- "$@" "$CORPUS/shapes.cc" "$CORPUS/shapes_more.cc" ;;
	*) set -- "$@" "$CORPUS/calls.c" "$CORPUS/calls_more.c" ;;
	esac
	mkdir -p "$out.dir"
	(cd "$out.dir" && "$compiler" -o "../$out" "$@") 2>build.err || {
		echo "skipped: $out: $compiler $* does not work"
		return 1
	}
}

plain_forms() {
	for version in 4 5; do
		for level in "-O0" "-O2" "-O2 -ffunction-sections -fno-inline-small-functions" "-O3 -flto"; do
			for compiler in gcc g++; do
				# shellcheck disable=SC2086
				build plain $compiler -g -gdwarf-$version $level || continue
				check "$compiler DWARF $version $level" plain plain
			done
			for compiler in clang clang++; do
				have $compiler || continue
				case $level in
				*lto) aranges=-Wl,-plugin-opt=-generate-arange-section ;;
				*) aranges=-gdwarf-aranges ;;
				esac
				# shellcheck disable=SC2086
				build ranged $compiler -g -gdwarf-$version $aranges $level || continue
				# shellcheck disable=SC2086
				build plain $compiler -g -gdwarf-$version $level || continue
				check "$compiler DWARF $version $level" plain ranged
			done
		done
	done
}

# hide FROM TO: split.dwo becomes split.hidden, or back, wherever the compiler has put it
hide() {
	find . -name "*.$1" | while read -r name; do mv "$name" "${name%"$1"}$2"; done
}

# packages COMPILER VERSION: of the .dwo files of `split`, made by all that can make them, and
# named with the .dwo files out of the way.
packages() {
	for maker in dwp llvm-dwp make_dwp; do
		run=$maker
		[ $maker != make_dwp ] || run=$MAKE_DWP
		have "$run" || continue
		# binutils 2.40's takes no unit of DWARF 5, or crashes; LLVM's (14, 19) does not come
		# to an end with gcc 12's.
		case $maker-$1-$2 in
		dwp-*-5 | llvm-dwp-g*-5)
			echo "skipped: $1 DWARF $2 package: $maker cannot"
			continue
			;;
		esac
		# shellcheck disable=SC2046
		if timeout 60 "$run" $([ $maker = make_dwp ] || echo -o) split.dwp \
			$(find . -name '*.dwo') >/dev/null 2>&1; then
			hide dwo hidden
			check "$1 DWARF $2 package by $maker" split whole
			hide hidden dwo
		elif [ $maker = make_dwp ]; then
			echo "FAILED: $1 DWARF $2 package: $maker"
			failed=1
		else
			echo "skipped: $1 DWARF $2 package: $maker fails"
		fi
		rm -f split.dwp
	done
}

split_forms() {
	for version in 4 5; do
		for compiler in gcc g++ clang clang++; do
			have $compiler || continue
			aranges=
			case $compiler in clang*) aranges=-gdwarf-aranges ;; esac
			build whole $compiler -O2 -g -gdwarf-$version $aranges || continue
			find . -name '*.dwo' -exec rm -f {} +
			build split $compiler -O2 -g -gdwarf-$version -gsplit-dwarf || continue
			check "$compiler DWARF $version split" split whole
			packages $compiler $version
		done
	done
}

processed_forms() {
	build plain g++ -O2 -g || return
	for way in zlib zlib-gabi zlib-gnu; do
		objcopy --compress-debug-sections=$way plain packed 2>/dev/null || continue
		check "compressed, $way" packed plain
	done
	objcopy --only-keep-debug plain only.debug && check "separate" only.debug plain stripped
	objcopy --remove-section .debug_aranges plain bare && check "without .debug_aranges" bare plain
	have dwz || return
	cp plain small && cp plain small2 && dwz small 2>/dev/null && check "dwz" small plain
	cp plain small && cp plain small2 && dwz -m alternate small small2 2>/dev/null &&
		check "dwz, alternate file" small plain
}

rust_forms() {
	have rustc || { echo "skipped: no rustc"; return; }
	for version in 4 5 default; do
		# Old ones have no choice.
		case $version in
		default) chosen= ;;
		*) chosen="-C dwarf-version=$version" ;;
		esac
		for level in 0 2 3; do
			# shellcheck disable=SC2086
			rustc --edition 2018 -g -C opt-level=$level -C prefer-dynamic $chosen \
				-o rusty "$CORPUS/shapes.rs" 2>build.err || {
				echo "skipped: rustc, DWARF $version"
				break
			}
			check "rustc, DWARF $version, opt-level=$level" rusty rusty
		done
	done
}

plain_forms
split_forms
processed_forms
rust_forms
[ "$done_count" -gt 0 ] || exit 77
exit $failed
