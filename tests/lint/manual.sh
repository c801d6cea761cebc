#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --help and the manual name the same options, those that --help hides included. The page of each
# command describes the options of its --help and no others. The manual renders without a warning.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
page=man/wallsample.1
[ -e "$page" ] || { echo "$page is missing"; exit 1; }

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

words='(^|[^-[:alnum:]])--?[[:alpha:]][-[:alnum:]]*'
# Options of a text, one a line: -p, --pid, …
options_in() {
	grep -oE -- "$words" | sed -E 's/^[^-]//' | sort -u
}

# The names of bits that contain FOR_RUN, the command without a name: FOR_RUN|FOR_REPORT_OF_ONE|…
runs=$(awk '
	/^\tFOR_[A-Z_]+ = / {
		takes = $1 == "FOR_RUN"
		for (i = 3; i <= NF; i++) {
			word = $i
			sub(/,$/, "", word)
			takes = takes || word in runs
		}
		if (takes) {
			runs[$1] = 1
			printf "%s%s", all++ ? "|" : "", $1
		}
	}' include/wallsample/cli/options.h)
[[ $runs == FOR_RUN*FOR_ALL* ]] || { echo 'no FOR_… bits found in options.h'; exit 1; }
commands=$(sed -nE 's/^\t\{ \.name = "([a-z]+)".*/\1/p' src/cli/command.c)
[ -n "$commands" ] || { echo 'no commands found in src/cli/command.c'; exit 1; }

# The registry has the truth: name, letter, whether it is hidden, or only for other commands. Without
# .commands an option is for FOR_REPORTS.
awk -v runs="(^|[^A-Z_])($runs)($|[^A-Z_])" '
	/\.name = "/ { row = "" }
	{ row = row $0 }
	/\}/ && row ~ /\.name = "/ {
		kind = row ~ /\.hidden = true/ ? "hidden" : "shown"
		if (match(row, /\.commands = [^,]*/) &&
		    substr(row, RSTART, RLENGTH) !~ runs)
			kind = "elsewhere"
		name = row; sub(/.*\.name = "/, "", name); sub(/".*/, "", name)
		print "--" name, kind
		if (row ~ /\.letter = \047/) {
			letter = row; sub(/.*\.letter = \047/, "", letter); sub(/\047.*/, "", letter)
			print "-" letter, kind
		}
		row = ""
	}' src/cli/option_table.c | sort -u >"$work/table"
[ -s "$work/table" ] || { echo 'no options found in src/cli/option_table.c'; exit 1; }

"${WALLSAMPLE:?}" --help >"$work/help.txt" || { echo '--help failed'; exit 1; }
# The list of options alone: examples show those of other programs, too.
sed -nE 's/^ {2,6}(-.*)/\1/p' "$work/help.txt" | sed 's/  .*//' | options_in >"$work/help"
# Roff writes a hyphen that is one as \-, fonts as \fB and the like.
sed -E 's/\\-/-/g; s/\\f(\[[A-Z]*\]|\(..|.)//g; s/^\.[A-Z]+ //; s/"//g' "$page" |
	options_in >"$work/page"

failed=0
complain() {
	printf '%s\n' "$*"
	failed=1
}

while read -r option shown; do
	# those have pages of their own, see below
	[ "$shown" != elsewhere ] || continue
	grep -qxF -e "$option" "$work/page" || complain "$page does not name $option"
	if [ "$shown" = shown ]; then
		grep -qxF -e "$option" "$work/help" || complain "--help does not name $option"
	fi
done <"$work/table"
cut -d ' ' -f 1 "$work/table" | sort -u >"$work/known"
while read -r option; do
	grep -qxF -e "$option" "$work/known" || complain "--help names $option, which is none"
done <"$work/help"

# Each command's own page names what its own help names, and describes nothing else.
for verb in $commands; do
	[ -e "man/wallsample-$verb.1" ] || { complain "man/wallsample-$verb.1 is missing"; continue; }
	grep -qF "man/wallsample-$verb.1" man/local.mk || complain "man/local.mk lacks wallsample-$verb.1"
	"$WALLSAMPLE" $verb --help | sed -nE 's/^ {2,6}(-.*)/\1/p' | sed 's/  .*//' |
		options_in >"$work/verb_help"
	[ -s "$work/verb_help" ] || complain "wallsample $verb --help names no options"
	sed -nE '/^\.SH OPTIONS/,/^\.SH EXIT/p' "man/wallsample-$verb.1" | grep -E '^\.BR? ' |
		sed -E 's/\\-/-/g; s/\\f(\[[A-Z]*\]|\(..|.)//g; s/^\.[A-Z]+ //; s/"//g' |
		grep -E '^-' | options_in >"$work/verb_page"
	while read -r option; do
		grep -qxF -e "$option" "$work/verb_page" ||
			complain "man/wallsample-$verb.1 does not describe $option"
	done <"$work/verb_help"
	while read -r option; do
		grep -qxF -e "$option" "$work/verb_help" || [ "$option" = --unwinder ] ||
			complain "man/wallsample-$verb.1 describes $option, which $verb does not take"
	done <"$work/verb_page"
done

# A topic of wallsample help is a page of section 7.
"$WALLSAMPLE" help --help | sed -n '/^Topics/,/^$/p' | tail -n +2 | tr -d ' ' | tr ',' '\n' |
	grep . >"$work/topics"
[ -s "$work/topics" ] || complain 'wallsample help --help lists no topics'
while read -r topic; do
	grep -qF "man/wallsample-$topic.7" man/local.mk && [ -e "man/wallsample-$topic.7" ] ||
		complain "man/wallsample-$topic.7 is missing"
done <"$work/topics"

# Long options of other programs stand in examples; ours are those of .TP paragraphs.
sed -n '/^\.TP/,/^[^.]/p' "$page" | grep -E '^\.(BR?|BI|IP|OP) |^\\fB' |
	sed -E 's/\\-/-/g; s/\\f(\[[A-Z]*\]|\(..|.)//g; s/^\.[A-Z]+ //; s/"//g' |
	grep -E '^-' | options_in >"$work/described"
while read -r option; do
	grep -qxF -e "$option" "$work/known" || complain "$page describes $option, which is none"
done <"$work/described"

if command -v mandoc >/dev/null 2>&1; then
	mandoc -T lint -W warning man/*.[1-9] >"$work/lint" 2>&1 || complain "$(cat "$work/lint")"
elif command -v groff >/dev/null 2>&1; then
	groff -man -Tutf8 -ww -z man/*.[1-9] >"$work/lint" 2>&1
	[ ! -s "$work/lint" ] || complain "$(cat "$work/lint")"
else
	echo 'neither mandoc nor groff is there: not rendered'
	[ $failed = 1 ] || exit 77
fi
exit $failed
