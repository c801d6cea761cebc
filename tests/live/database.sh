#!/bin/sh
# SPDX-License-Identifier: MIT
# Locks that a database server names: the rows of waits, the cause, and the process whose
# transaction is open.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

mkfifo "$dir/ready"
"$BUILD/tests/live/bin/postgres" >"$dir/ready" &
target=$!
actors="$actors $target"
ready=0
while [ "$ready" -lt 6 ] && read -r said; do
	[ "$said" = ready ] && ready=$((ready + 1))
done <"$dir/ready"
suspect=$(pgrep -P "$target" -f 'idle in transaction')

COLUMNS=140
export COLUMNS
run -p "$target" --children -d 1 --full
expect_status 0
# expect_line PATTERN: a line of the report.
expect_line() {
	grep -qE -e "$1" "$out" && return
	complain "$what: nowhere '$1' in:"
	sed 's/^/    /' "$out"
}

expect_line '^1 Lock +database lock row \(transactionid, tuple\): 2 threads waited (100|9[0-9.]+)% of'
expect_line "^ +suspect +postgres: app shop 10\\.0\\.0\\.8\\(40003\\) idle in transaction \\($suspect\\)\$"
expect_in "$out" 'pg_blocking_pids(pid)'
expect_line 'database lock row \(transactionid, tuple\) +ProcSleep \(postgres\)$'
expect_line '×2 .*UPDATE waiting +ProcSleep$'
run -p "$target" --children -d .5 -f json
expect_status 0
# expect_lock OBJECT THREADS FUNCTION: so many threads wait for the lock, in the function.
expect_lock() {
	grep -F '"kind":"database lock","object":"'"$1"'"' "$out" >"$dir/lock" ||
		complain "$what: no waits for $1"
	expect_in "$dir/lock" "\"threads\":$2,"
	expect_in "$dir/lock" "\"$3\""
}

expect_lock 'row (transactionid, tuple)' 2 ProcSleep
expect_lock 'WALWrite (LWLock)' 1 PGSemaphoreLock
expect_lock 'LWLock 65520' 1 PGSemaphoreLock
kill "$target"
finish
