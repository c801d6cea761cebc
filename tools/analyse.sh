#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# analyse.sh: runs clang-tidy, with the checks of .clang-tidy, on the files of compile_commands.json in
# the current directory. It prints findings, and fails if there are any. Findings in the list below
# are not printed; the list has the reason why each of them is no defect.
set -u
tidy=$(command -v clang-tidy) || { echo 'clang-tidy is missing'; exit 77; }
jobs=$(getconf _NPROCESSORS_ONLN)

# FILE CHECK REASON
known='
src/analysis/tables/result.c	clang-analyzer-core.NullDereference	arrays are allocated when their count is above 0
src/analysis/tables/tree.c	clang-analyzer-core.NullDereference	links lead to nodes that choose() has counted and allocated
src/causal/curve_fit.c	bugprone-integer-division	terms of a series of integers are meant
src/causal/curve_fit.c	clang-analyzer-core.NullDereference	cells exist when their count is above 0
src/causal/progress_line.c	clang-analyzer-core.NonNullParamChecker	symbols_find() returns at least one symbol, whose text is added
src/causal/progress_words.c	clang-analyzer-core.NonNullParamChecker	words that were read have a name
src/cli/say.c	bugprone-integer-division	whole milliseconds are meant
src/elf/image_cache.c	clang-analyzer-unix.Malloc	unlink_block() takes the freed block out of the list
src/format/causal_svg.c	bugprone-integer-division	places on a grid of whole units
src/format/folded.c	clang-analyzer-core.NullDereference	xgrow() has allocated the line
src/process/find.c	clang-analyzer-core.NullDereference	processes are listed when their count is above 0
src/recording/reader_load.c	clang-analyzer-core.NullDereference	ids are checked against the count of rows that were read
src/report/columns.c	clang-analyzer-core.DivideZero	a table has at least one column
src/report/document.c	clang-analyzer-core.DivideZero	a table has at least one column
src/report/plot.c	clang-analyzer-security.FloatLoopCounter	a step grows by factors, it does not count
src/runtime/julia/julia_tasks.c	bugprone-suspicious-memory-comparison	padding that differs has the tasks read again, nothing worse
src/sampler/tasks/green_sample.c	clang-analyzer-core.uninitialized.Assign	green_read_pieces() sets each element
'

sed -n 's/^ *"file": "\(.*\)",*$/\1/p' compile_commands.json |
	xargs -P "$jobs" -n 8 "$tidy" --quiet -p . --extra-arg=-Wno-unknown-warning-option 2>/dev/null |
	grep -E '^([^ ]+:[0-9]+:[0-9]+: )?(error|warning): ' |
	sed -E 's|^[^ ]*/((src\|include)/)|\1|' | sort -u | {
	failed=0
	while read -r finding; do
		file=${finding%%:*}
		check=$(sed -E 's/.*\[([^],]*).*/\1/' <<<"$finding")
		[[ $known == *$'\n'"$file"$'\t'"$check"$'\t'* ]] && continue
		printf '%s\n' "$finding"
		failed=1
	done
	exit $failed
}
