#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ELF files are opened with libelf in one place, which looks at their headers first; those that
# we write ourselves have none yet.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

failed=0
for file in $(find src -name "*.[ch]"); do
	[ "$file" = src/elf/elf_open.c ] && continue
	# Without comments, which may name it.
	if ${CC:-gcc} -fpreprocessed -dD -E -P -x c "$file" 2>/dev/null |
		grep -nE '\<(elf_begin|elf_memory|dwarf_begin|dwfl_report_(elf|offline))[[:space:]]*\(' |
		grep -v ELF_C_WRITE; then
		printf '%s opens an ELF file by itself: see elf_open.h\n' "$file"
		failed=1
	fi
done
exit $failed
