#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of one name in files of one base name are different functions in all formats: static
# functions of C, and functions of Python where it is installed.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
if ! command -v cc >/dev/null 2>&1; then
	echo 'cc is missing'
	exit 77
fi

# check_formats FILE ONE OTHER: the recording "$dir/rec" has two functions, of these places.
check_formats() {
	for format in text folded svg html json speedscope firefox chrome perf; do
		run report -f "$format" "$dir/rec.wsdb"
		expect_in "$out" "$1"
		expect_in "$out" "$2"
	done
	run report --by line -f folded "$dir/rec.wsdb"
	expect_in "$out" "helper ($1:"
	expect_in "$out" "helper ($2:"
	run report -f folded "$dir/rec.wsdb"
	expect_in "$out" "helper ($1)"
	"$WALLSAMPLE" report -f pprof -o "$dir/rec.pb.gz" "$dir/rec.wsdb" 2>"$err"
	gzip -dc "$dir/rec.pb.gz" >"$dir/plain"
	expect_in "$dir/plain" "helper ($1)"
	expect_in "$dir/plain" "helper ($2)"
}

mkdir "$dir/alpha" "$dir/beta"
for part in alpha beta; do
	cat >"$dir/$part/util.c" <<-END
		static volatile unsigned long sum;
		static __attribute__((noinline)) void helper(void)
		{
			for (unsigned long i = 0; i < 1000000; i++)
				sum += i;
		}
		void run_$part(void) { helper(); sum++; }
	END
	cat >"$dir/$part/util.py" <<-END
		def helper():
		    return sum(i for i in range(20000))
	END
	: >"$dir/$part/__init__.py"
done
cat >"$dir/main.c" <<-END
	#include <time.h>
	void run_alpha(void);
	void run_beta(void);
	int main(void)
	{
		const time_t end = time(NULL) + 6;
		while (time(NULL) < end) { run_alpha(); run_beta(); }
		return 0;
	}
END
cat >"$dir/main.py" <<-END
	import time, alpha.util, beta.util
	end = time.time() + 6
	while time.time() < end:
	    alpha.util.helper()
	    beta.util.helper()
END
# The programs end by themselves: wallsample leaves them running.
(cd "$dir" && cc -g -O1 -o same main.c alpha/util.c beta/util.c) || exit 99
run record -d 1s -o "$dir/rec.wsdb" -- "$dir/same"
check_formats alpha/util.c beta/util.c
if command -v python3 >/dev/null 2>&1; then
	run record -d 2s -o "$dir/rec.wsdb" -- python3 "$dir/main.py"
	check_formats alpha/util.py beta/util.py
fi
finish
