#!/bin/bash
# SPDX-License-Identifier: MIT
# Who reads the golden documents takes them without an error, or a warning, and the names in them,
# which are hostile, for text.
set -u
replay=${SOURCE:?}/tests/replay
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0 read=0

complain() {
	echo "$*"
	failed=1
}

# has FILE TEXT
has() {
	grep -qF -- "$2" "$1" || complain "not in $(basename "$1"): $2"
}

# compile NAME DOCUMENT: NAME compiles the document, twice, because tables that break across
# pages take the widths of their columns from the first run.
compile() {
	local latex=$1 document=$2
	for _ in 1 2; do
		(cd "$dir" && timeout 100 "$latex" -no-shell-escape -interaction=nonstopmode \
			-halt-on-error -jobname="$(basename "$document" | tr . -)" "$document" \
			>latex.log 2>&1) || {
			complain "$latex: $document: $(grep -a -A 3 '^!' "$dir/latex.log")"
			return
		}
	done
	# a column that does not fit on the page
	! grep -a -A 1 'Overfull.*in alignment' "$dir/latex.log" ||
		complain "$latex: $document: a table is wider than the page"
}

for latex in pdflatex lualatex; do
	if ! command -v $latex >/dev/null 2>&1; then
		echo "$latex is not there"
		continue
	elif [ $latex = lualatex ] && ! kpsewhich fontspec.sty >/dev/null 2>&1; then
		echo 'fontspec is not there'
		continue
	fi
	read=1
	for document in report.tex causal.tex diff.tex exports/hostile.latex; do
		compile $latex "$replay/$document"
	done
	if [ $latex = pdflatex ] && command -v pdftotext >/dev/null 2>&1 &&
		[ -f "$dir/report-tex.pdf" ]; then
		pdftotext -layout "$dir/report-tex.pdf" "$dir/pdf.txt"
		has "$dir/pdf.txt" '[U+65E5][U+672C][U+8A9E]_é' # which its fonts do not have
		has "$dir/pdf.txt" 'alert(1)</script>'
	fi
done
for document in report.tex causal.tex diff.tex exports/hostile.latex exports/job.latex; do
	tables=$(grep -c '^.begin{longtable}' "$replay/$document")
	[ "$(grep -c '^.hline.endhead$' "$replay/$document")" = "$tables" ] &&
		[ "$(grep -c '^.hline$' "$replay/$document")" = "$tables" ] ||
		complain "$document has a table without rules"
done

if command -v groff >/dev/null 2>&1; then
	read=1
	timeout 60 groff -ww -man -Tutf8 -k -P-c "$replay/report.man" >"$dir/man.txt" 2>"$dir/man.err" ||
		complain groff failed
	timeout 60 groff -ww -man -Tutf8 -k -z "$replay/causal.man" 2>>"$dir/man.err" ||
		complain groff failed
	[ ! -s "$dir/man.err" ] || complain "groff: $(cat "$dir/man.err")"
	sed -i 's/.\x08//g' "$dir/man.txt"
	has "$dir/man.txt" '日本語_é'
	has "$dir/man.txt" "</script><script…} [l](http://h/) ('.TH)"
else
	echo 'groff is not there'
fi

if command -v mandoc >/dev/null 2>&1; then
	read=1
	for document in report causal diff exports/job exports/hostile; do
		mandoc -Tlint -Wwarning "$replay/$document.man" >"$dir/mandoc.txt" 2>&1 ||
			complain "$(cat "$dir/mandoc.txt")"
	done
else
	echo 'mandoc is not there'
fi

if command -v cmark-gfm >/dev/null 2>&1; then
	read=1
	timeout 60 cmark-gfm --unsafe -e table -e strikethrough "$replay/report.md" >"$dir/md.html" ||
		complain cmark-gfm failed
	# none but those of a report
	others=$(grep -oE '<[a-z!][a-z0-9]*' "$dir/md.html" | sort -u |
		grep -vE '^<(h[1-3]|p|ul|li|strong|table|thead|tbody|tr|th|td)$')
	[ -z "$others" ] || complain "elements in Markdown: $others"
	has "$dir/md.html" '&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- a|b@plt `x` *y* _z_'
else
	echo 'cmark-gfm is not there'
fi
[ $read = 1 ] || exit 77
exit $failed
