#!/bin/sh
# SPDX-License-Identifier: MIT
# A report that is longer than the terminal goes through $PAGER; other outputs never do.
. "${SOURCE:?}/tests/cli/common.sh"
command -v python3 >/dev/null || { echo 'no python3'; exit 77; }

cat >"$dir/terminal.py" <<'PY'
"""terminal.py ROWS OUTPUT COMMAND... - runs a command on a terminal of ROWS lines, and writes what
it prints there to OUTPUT. Ends with the status of the command. If SNAPSHOT is in the environment,
sends USR1 until a report is there, and then INT;
and if TERM_PAGER is, sends TERM when
the pager prints "[runs]".
"""
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios

rows, path, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    # The size is set before the command runs.
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    os.execvp(command[0], command)
text = b""
# The status line says how many samples there are.
wanted = [(rb"[1-9][0-9]* samples of", signal.SIGUSR1), (rb"What the threads", signal.SIGINT)]
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:  # EIO: the command has ended
        break
    if not part:
        break
    text += part
    if "TERM_PAGER" in os.environ and b"[runs]" in text:
        os.kill(child, signal.SIGTERM)
        del os.environ["TERM_PAGER"]
    if "SNAPSHOT" in os.environ and wanted and re.search(wanted[0][0], text):
        os.kill(child, wanted.pop(0)[1])
with open(path, "wb") as file:
    file.write(text.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
PY

# terminal ROWS COMMAND...: what it prints on a terminal of ROWS lines is in $out.
terminal() {
	what="on a terminal of $*"
	status=0
	rows=$1
	shift
	python3 "$dir/terminal.py" "$rows" "$out" "$@" 2>"$err" || status=$?
}

recording=$SOURCE/tests/replay/recordings/job.wsdb
export LC_ALL=C.UTF-8 NO_COLOR=1 TERM=dumb
PAGER="cat >$dir/paged; echo '[paged]'"
export PAGER

# The whole report is longer than 30 lines; the pager gets all of it and is its only reader.
terminal 30 "$WALLSAMPLE" report -q --full "$recording"
expect_status 0
expect_in "$out" '[paged]'
[ "$(wc -l <"$out")" -eq 1 ] || complain "$what: not all of it went to the pager"
what='what the pager got'
expect_in "$dir/paged" 'WHY IT IS SLOW'
expect_in "$dir/paged" 'What the threads were doing'
rm -f "$dir/paged"

# It fits a terminal of 500 lines.
terminal 500 "$WALLSAMPLE" report -q --full "$recording"
expect_status 0
expect_in "$out" 'What the threads were doing'
[ ! -e "$dir/paged" ] || complain "$what: it went to a pager"

# To a pipe or a file it is never paged, whatever terminal there is.
terminal 5 sh -c '"$1" report -q --full "$2" | wc -l; "$1" report -q -o "$3" "$2"' sh \
	"$WALLSAMPLE" "$recording" "$dir/x.txt"
expect_status 0
[ ! -e "$dir/paged" ] || complain "$what: a pipe or a file went to a pager"

for PAGER in '' cat /nonexistent/pager false /tmp 'kill -SEGV $$'; do
	terminal 5 "$WALLSAMPLE" report -q --full "$recording"
	expect_status 0
	expect_in "$out" 'What the threads were doing'
done
# The pager reads only the first line, and ends.
PAGER='head -n 1'
terminal 5 "$WALLSAMPLE" report -q --full "$recording"
expect_status 0
[ "$(wc -l <"$out")" -eq 1 ] || complain "$what: $(cat "$out")"
# SIGTERM ends both: 241 is the status for "ended by signal 15".
PAGER="echo '[runs]'; exec sleep 31415"
export TERM_PAGER=1
terminal 5 "$WALLSAMPLE" report -q --full "$recording"
unset TERM_PAGER
expect_status 241
expect_in "$out" '[runs]'
for pid in $(pgrep -f '^sleep 31415$'); do
	complain "$what: the pager $pid is left"
done

# A snapshot of a run that continues is not paged, because the run would wait for its user; the
# report at the end is.
PAGER="cat >$dir/paged; echo '[paged]'"
needs_ptrace
actor busy
export SNAPSHOT=1
terminal 5 "$WALLSAMPLE" --full -p "$actor" -d 60
expect_status 0
expect_in "$out" 'What the threads were doing'
expect_in "$out" '[paged]'
what='the report at the end'
expect_in "$dir/paged" 'What the threads were doing'
end_actor "$actor"
finish
