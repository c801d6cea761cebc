#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the program knows of a language is in src/runtime/LANGUAGE/: no file outside of it, not even
# in a comment, has one of the language's words below. Each directory of src/runtime has words and a
# row in LANGUAGES.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

# Extended regular expressions of whole words: names, parts of identifiers, functions, files.
declare -A words=(
	[python]='\w*([Pp]ython|PYTHON)\w*|_?Py[A-Z]\w*|asyncio|take_gil|\w+\.pyc?|__(init|main)__'
	[go]='Go|golang|[Gg]oroutines?|gopclntab|gowrap|go_\w+|GO_\w+|\w+_(go|GO)|\w+_(go|GO)_\w+'
	[julia]='\w*([Jj]ulia|JULIA)\w*|jl_\w+'
)
# Beginnings of texts that are no words.
declare -A texts=([python]='\[python: ' [go]='\[go: |"runtime\.' [julia]='\[julia: ')
# Identifiers that have a word by chance.
innocent='\blaunch_go\b'

# FILE (a pattern) and the reason.
allowed='
src/runtime/languages_internal.h: the registry, a row for each language
include/wallsample/runtime/language.h: the contract, with examples
src/elf/pclntab*: a format of function tables, named after its section, that unwinding needs
include/wallsample/elf/pclntab.h: its contract
src/unwind/by_pclntab.c: unwinds by that format, whose rules name functions of the runtime
src/symbol/pclntab_names*: names from that format
include/wallsample/symbol/symbol.h: the source of a symbol, by the name of its section
src/jit/objects/jit_tree*: the one known runtime that keeps such a tree, found by its library
'

failed=0
complain() {
	printf '%s\n' "$*"
	failed=1
}

while IFS=: read -r file reason; do
	[ -z "$file" ] || compgen -G "$file" >/dev/null ||
		complain "$0: $file is allowed and does not exist"
done <<<"$allowed"

is_allowed() {
	local file reason
	while IFS=: read -r file reason; do
		# shellcheck disable=SC2053 # a pattern
		[ -n "$file" ] && [[ $1 == $file ]] && return 0
	done <<<"$allowed"
	return 1
}

for path in src/runtime/*/; do
	language=$(basename "$path")
	grep -q "X($language)" src/runtime/languages_internal.h ||
		complain "$path has no row in src/runtime/languages_internal.h"
	[ -n "${words[$language]:-}" ] || complain "$0: $path has no words here"
done
for language in "${!words[@]}"; do
	[ -d "src/runtime/$language" ] || complain "$0: src/runtime/$language does not exist"
	expression="\\b(${words[$language]})\\b|${texts[$language]}"
	while IFS=: read -r file line text; do
		is_allowed "$file" ||
			complain "$file:$line: has a word of src/runtime/$language: $text"
	done < <(grep -rnE --include='*.[ch]' --include='*.js' --include='*.css' "$expression" \
		src include | grep -v "^src/runtime/$language/" |
		sed -E "h; s/$innocent//g; s/^[^:]*:[^:]*://; /$expression/!d; g")
done
exit $failed
