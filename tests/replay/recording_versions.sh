#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings of every schema version that is read, kept as recordings/RUN-vVERSION.wsdb: all
# versions of a run give the same report, which is versions/RUN.json. src/README tells how to add a
# version. After an intended change: UPDATE_GOLDEN=1 make check TESTS=tests/replay/recording_versions.sh
set -u
replay=${SOURCE:?}/tests/replay
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0 count=0
unset COLUMNS DEBUGINFOD_URLS
export TZ=UTC LC_ALL=C
complain() {
	echo "$*"
	failed=1
}

# report FILE OPTIONS...: writes $dir/out
report() {
	local file=$1
	shift
	"${WALLSAMPLE:?}" report -q --debuginfod=off --symfs="$dir/none" "$@" -o "$dir/out" "$file" \
		2>"$dir/err" || complain "$file: $(cat "$dir/err")"
	count=$((count + 1))
}

header=${SOURCE}/include/wallsample/recording/recording.h
oldest=$(sed -n 's/^#define RECORDING_SCHEMA_OLDEST //p' "$header")
newest=$(sed -n 's/^#define RECORDING_SCHEMA //p' "$header")
[ $((newest - oldest)) -ge 1 ] || complain "only versions $oldest to $newest are read"
for run in locks python; do
	golden=$replay/versions/$run.json
	for version in $(seq "$oldest" "$newest"); do
		kept=$replay/recordings/$run-v$version.wsdb
		[ -e "$kept" ] || { complain "$kept is missing"; continue; }
		stored=$(od -An -j 60 -N 4 -t u1 "$kept" | awk '{ print $4 }')
		[ "$stored" = "$version" ] || complain "$kept has schema version $stored"
		report "$kept" -f json
		if [ -n "${UPDATE_GOLDEN:-}" ] && [ "$version" = "$oldest" ]; then
			mkdir -p "$replay/versions" && cp "$dir/out" "$golden"
		fi
		cmp "$dir/out" "$golden" || {
			diff -a "$golden" "$dir/out" | cut -c 1-200 | head -n 10
			failed=1
		}
		for format in text folded; do
			report "$kept" -f "$format"
			mv "$dir/out" "$dir/$run-$version.$format"
			cmp "$dir/$run-$oldest.$format" "$dir/$run-$version.$format" || failed=1
		done
	done
done

# The manual names the versions, and lists the columns of each table, as the schema has them.
manual=$SOURCE/man/wallsample-recording.5
grep -q "^is the version of these tables, $newest\.$" "$manual" ||
	complain "$manual does not say that the version is $newest"
grep -q "^also reads recordings of version $oldest[, ]" "$manual" ||
	complain "$manual does not say that version $oldest is read"
tables=0
while read -r table columns; do
	tables=$((tables + 1))
	grep -qF -- "${table,,} \" (${columns// /, })\"" "$manual" ||
		grep -qF -- "${table,,} \" (${columns// /, }), \"" "$manual" ||
		complain "$manual does not have: ${table,,} (${columns// /, })"
done < <(tr -d '\\\n' <"$SOURCE/src/recording/columns_internal.h" |
	sed -E 's:#define |/\*:\n:g' | sed -nE 's/^([A-Z_]+)_COLUMNS\(C, ADDED, T\)/\1 /p' |
	sed -E 's/(C|ADDED)\(T, ([a-z_]+)[^)]*\)/\2/g' | tr -s '\t ' ' ' | sed 's/ $//')
[ "$tables" -ge 20 ] || complain "only $tables tables found in the schema"
echo "$count reports compared, $tables tables"
exit $failed
