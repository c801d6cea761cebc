#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Dependencies between the directories of src/ point one way. The table below is the rule: each
# directory, and the directories whose contracts (include/wallsample/DIR/) its files include. It
# is exact: an #include that it does not list fails, and so does an entry that nothing uses.
# src/local.mk and the tree in src/README list the directories in the same order.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

# Each directory stands below the ones that include it, so that the order has no ring.
rows='
base
elf        base
process    base elf
thread     base process
jit        base elf process
tracer     base process thread
wait       base elf process thread
unwind     base elf process tracer
dwarf      base elf process
symbol     base elf process jit dwarf
runtime    base elf process thread tracer wait unwind dwarf
profile    base process thread wait unwind runtime
sampler    base process thread jit tracer wait unwind runtime profile
core       base elf process thread tracer wait unwind runtime profile sampler
causal     base process tracer unwind symbol profile sampler
recording  base process unwind symbol profile causal
analysis   base process unwind symbol runtime profile
report     base process thread unwind runtime profile core causal recording analysis
web        base thread runtime profile analysis report
format     base process unwind runtime analysis report web
cli        base process thread jit tracer unwind dwarf runtime sampler core causal recording analysis report format
'

failed=0
complain() {
	printf '%s\n' "$*"
	failed=1
}

# Prints "DIR LOWER FILE" for each contract of LOWER that a file of DIR includes.
uses() {
	grep -rE '^[[:space:]]*#[[:space:]]*include "wallsample/' include/wallsample src \
		--include='*.[ch]' | sed -nE \
		's|^((include/wallsample\|src)/([a-z]+)/[^:]*):.*"wallsample/([a-z]+)/.*|\3 \4 \1|p'
}

# Contracts are in include/wallsample/DIR/, and an #include has the one form that uses() reads.
while read -r file; do
	complain "$file is not in include/wallsample/DIR/"
done < <(find include -name '*.h' | grep -vE '^include/wallsample/[a-z]+/[a-z_0-9]+\.h$')
while IFS= read -r line; do
	complain "not in the form #include \"wallsample/DIR/NAME.h\": $line"
done < <(grep -rnE --include='*.[ch]' '#[[:space:]]*include.*wallsample/' include src |
	grep -vE ':#include "wallsample/[a-z]+/[a-z_0-9]+\.h"$')

declare -A below
seen=' '
while read -r directory lower; do
	[ -n "$directory" ] || continue
	below[$directory]=" $lower "
	for one in $lower; do
		[[ $seen == *" $one "* ]] || complain "$0: $directory stands on $one, a later row"
	done
	seen="$seen$directory "
done <<<"$rows"

order=$(awk 'NF { print $1 }' <<<"$rows")
[ "$order" = "$(sed -nE 's|^include src/([a-z]+)/local.mk$|\1|p' src/local.mk)" ] ||
	complain 'src/local.mk does not include the directories in the order of the table'
[ "$order" = "$(sed -n '/^---/,/^$/s/^\([a-z]\{1,\}\) .*/\1/p' src/README)" ] ||
	complain 'the tree in src/README does not list the directories in the order of the table'

for path in src/*/; do
	name=$(basename "$path")
	[ -n "${below[$name]+x}" ] || complain "$path has no row in the table of $0"
done

declare -A used
while read -r directory lower file; do
	used["$directory $lower"]=1
	[ "$directory" = "$lower" ] && continue
	[[ ${below[$directory]:-} == *" $lower "* ]] ||
		complain "$file: $directory may not include the contracts of $lower"
done < <(uses)
for directory in "${!below[@]}"; do
	for one in ${below[$directory]}; do
		[ -n "${used["$directory $one"]:-}" ] ||
			complain "$0: $directory lists $one, whose contracts it does not include"
	done
done

# A private header, or a table of facts (.def), is included by its path in src/, from its own
# directory alone.
while IFS=: read -r file line; do
	header=$(sed -E 's/.*"([^"]*)".*/\1/' <<<"$line")
	case $header in
	wallsample/* | config.h | *.pb-c.h | *.css.h | *.js.h) continue ;; # the last are generated
	esac
	[ -e "src/$header" ] || complain "$file: src/$header does not exist"
	[ "${header%%/*}" = "$(cut -d/ -f2 <<<"$file")" ] ||
		complain "$file: \"$header\" is private to src/${header%%/*}"
	[[ $header == *_internal.h || $header == *.def ]] ||
		complain "$file: a private header ends in _internal.h: $header"
done < <(grep -rE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' src --include='*.[ch]')
while IFS=: read -r file line; do
	case $line in *'"wallsample/'*) ;; *) complain "$file: a contract includes $line" ;; esac
done < <(grep -rE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' include --include='*.h')

exit $failed
