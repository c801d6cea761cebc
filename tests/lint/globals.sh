#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Below src/cli nothing that can change lives in a global: modules keep their state in what
# their callers hold.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
library=${BUILD:?}/libwallsample.a
command -v objdump >/dev/null 2>&1 || { echo 'objdump is not there'; exit 77; }
[ -e "$library" ] || { echo "$library is not there"; exit 99; }
if nm "$library" 2>/dev/null | grep -q __asan_init; then
	echo 'the sanitizers add variables of their own'
	exit 77
fi

# "OBJECT SYMBOL", and why it cannot be otherwise.
exceptions='
sandbox.o memory_file a handler of SIGSYS has no argument to pass it in
'
failed=0
while read -r object symbol; do
	[ -e "src/cli/${object%.o}.c" ] && continue
	[[ $exceptions == *$'\n'"$object $symbol "* ]] && continue
	printf '%s: %s can change and belongs to nobody\n' "$object" "$symbol"
	failed=1
done < <(objdump -t "$library" | awk '
	/file format/ { object = $1; sub(/:$/, "", object); sub(/^.*-/, "", object) }
	/ O \.(data|bss|tbss|tdata)(\.[a-z_0-9.]*)?[ \t]/ && !/\.data\.rel\.ro/ {
		print object, $NF
	}' | sort -u)
exit $failed
