#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the program knows of a language is in src/runtime/LANGUAGE/: no other file, not even a
# comment, names a language of the registry, its runtime, its functions or its markers.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

words='\b([Cc]?[Pp]ython[0-9]*|libpython|py[A-Z]\w+|golang|[Gg]oroutines?|gopclntab|gowrap|(lib)?[Jj]ulia\w*|asyncio'
words+='|take_gil)\b|\[(python|go|julia): |"runtime\.|'
exact="\bGo('s)?\b"

# FILE (a pattern) and the reason.
allowed='
src/runtime/languages.c: the registry, a row for each language
include/wallsample/runtime/language.h: the contract, with examples
src/elf/pclntab*: a format of function tables, named after its section, that unwinding needs
include/wallsample/elf/pclntab.h: its contract
src/unwind/by_pclntab.c: unwinds by that format, whose rules name functions of the runtime
src/symbol/pclntab_names*: names from that format
include/wallsample/symbol/symbol.h: the source of a symbol, by the name of its section
src/jit/objects/jit_tree*: the one known runtime that keeps such a tree, found by its library
'

failed=0
while IFS=: read -r file reason; do
	[ -n "$file" ] || continue
	compgen -G "$file" >/dev/null || { echo "$0: $file is allowed and does not exist"; failed=1; }
done <<<"$allowed"

is_allowed() {
	local file reason
	while IFS=: read -r file reason; do
		# shellcheck disable=SC2053 # a pattern
		[ -n "$file" ] && [[ $1 == $file ]] && return 0
	done <<<"$allowed"
	return 1
}

# Languages: the directories of src/runtime.
for path in src/runtime/*/; do
	grep -q "X($(basename "$path"))" src/runtime/languages.c || {
		echo "$path has no row in src/runtime/languages.c"
		failed=1
	}
done

while IFS=: read -r file line text; do
	is_allowed "$file" && continue
	echo "$file:$line: names a language: $text"
	failed=1
done < <(grep -rnE --include='*.[ch]' --include='*.js' --include='*.css' \
	"${words%|}|$exact" src include | grep -vE '^src/runtime/[a-z]+/')
exit $failed
