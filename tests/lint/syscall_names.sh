#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The lists of system calls in src/thread are what tools/syscall-names makes of the installed
# headers of the kernel. Skipped where these have calls that the lists do not have yet.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
status=0

for arch in x86_64 aarch64; do
	file=src/thread/syscall_names_${arch}.def
	made=$(tools/syscall-names "$arch" 2>/dev/null) || {
		echo "no headers of the kernel for $arch"
		[ "$status" = 0 ] && status=77
		continue
	}
	[ "$made" = "$(cat "$file")" ] && continue
	count=$(grep -o 'X([0-9]' "$file" | wc -l)
	if [ "$(grep -o 'X([0-9]' <<<"$made" | wc -l)" -gt "$count" ]; then
		echo "the installed headers are newer than $file"
		[ "$status" = 0 ] && status=77
	else
		diff -u "$file" - <<<"$made"
		status=1
	fi
done
exit $status
