#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Only unit tests are linked with libscene.a, whose sources need cmocka.h: on a machine without cmocka
# they are not built, and everything else is. A program that names no LDADD of its own gets that of
# the unit tests (tests/unit/local.mk).
set -u
makefile=${BUILD:?}/Makefile

failed=0
while read -r program; do
	case $program in
	tests_unit_*) continue ;;
	esac
	printf '%s_LDADD is not set: the program would be linked with libscene.a\n' "$program"
	failed=1
done < <(sed -nE 's/^(\w+)_DEPENDENCIES = .*libscene\.a.*/\1/p' "$makefile")
grep -q '^tests_unit_base_test_base_DEPENDENCIES = .*libscene\.a' "$makefile" || {
	printf '%s: no unit test is linked with libscene.a: what this test reads has changed\n' "$0"
	failed=1
}
exit $failed
