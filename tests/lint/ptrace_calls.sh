#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ptrace(2) is called in src/tracer/, and in src/process/attach_probe.c by a child that exits at
# once, to find out whether it is allowed: no other code can leave a thread stopped.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

failed=0
for file in $(find src -name "*.[ch]"); do
	case $file in src/tracer/*.c | src/process/attach_probe.c) continue ;; esac
	# Without comments, which may name it.
	if ${CC:-gcc} -fpreprocessed -dD -E -P -x c "$file" 2>/dev/null |
		grep -nE '\<ptrace[[:space:]]*\('; then
		printf '%s calls ptrace\n' "$file"
		failed=1
	fi
done
exit $failed
