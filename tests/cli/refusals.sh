#!/bin/sh
# SPDX-License-Identifier: MIT
# Each reason for which a process cannot be sampled has its own sentence and status.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

# refused STATUS TEXT WORDS…
refused() {
	want=$1
	text=$2
	shift 2
	run -d 50ms "$@"
	expect_status "$want"
	expect_err "$text"
	expect_empty "$out"
	# what is off limits is never to be switched off for good
	expect_not_in "$err" 'sysctl'
	expect_not_in "$err" 'echo 0'
}

# the id of a process that has just gone, which the kernel gives to the next one last
sh -c 'exit 0' &
gone=$!
wait "$gone"
refused 2 "there is no process $gone" -p "$gone"
refused 2 'no process matches the name' --name 'no-such-name-*'

actor thread
refused 2 "$said is a thread of process $actor" -p "$said"

actor zombie
refused 2 "process $said (actor) has exited and only waits for its parent, process $actor" \
	-p "$said"

# shellcheck disable=SC2016  # the inner shell is to say who it is
what='wallsample -p ITSELF'
sh -c 'exec "$WALLSAMPLE" -d 50ms -p $$' >"$out" 2>"$err"
status=$?
expect_status 3
expect_err 'is wallsample itself'
refused 3 "process $$ " -p $$
expect_err 'is an ancestor of wallsample'

if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	refused 3 'process 2 (kthreadd) is a kernel thread' -p 2
fi

actor park
target=$actor
actor seize "$target"
refused 3 "process $target (actor) is already traced by process $actor (actor)" -p "$target"
run -q -d 50ms --nonblocking -p "$target"
expect_status 0
end_actor "$actor"
run -q -d 50ms -p "$target"
expect_status 0
expect_unharmed "$target" S

# a 32-bit program, where there is a compiler for it and a kernel that runs it
cat >"$dir/narrow.c" <<'END'
static long
call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void
_start(void)
{
	static const char line[] = "1\n";

	call(4, 1, (long)line, 2); /* write */
	for (;;)
		call(29, 0, 0, 0); /* pause */
}
END
narrow='-m32 -O1 -static -nostdlib -fno-pie -no-pie -fno-stack-protector'
# shellcheck disable=SC2086  # several words
if [ "$(uname -m)" = x86_64 ] &&
	${CC:-cc} $narrow -o "$dir/narrow" "$dir/narrow.c" 2>/dev/null &&
	ACTOR=$dir/narrow start_actor 2>/dev/null; then
	refused 3 "process $actor (narrow) is a 32-bit program" -p "$actor"
	refused 3 "process $actor (narrow) is a 32-bit program" -p "$actor" --nonblocking
	expect_unharmed "$actor" S
	end_actor "$actor"
else
	echo 'no 32-bit program can be made here'
fi

# names: a copy of the actor whose name nobody else has
name=wsactor$$
cp "$BUILD/tests/cli/actor" "$dir/$name"
ACTOR=$dir/$name
actor park
one=$actor
run -d 50ms --name "$name"
expect_status 0
expect_err "sampling process $one ($name)"
run -d 50ms --name 'wsactor*'"${$}"
expect_status 0
actor park
refused 64 "2 processes match the name '$name'" --name "$name"
expect_err "$one ("
expect_err "$actor ("
end_actor "$actor"
end_actor "$one"
unset ACTOR

# what another user, or root without the capability, is told
as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
no_ptrace='setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace'
chmod 755 "$dir"
cp "$WALLSAMPLE" "$dir/wallsample"
actor park

if is_root && $no_ptrace true 2>/dev/null; then
	what='wallsample without CAP_SYS_PTRACE'
	$no_ptrace "$dir/wallsample" -d 50ms -p "$actor" >"$out" 2>"$err"
	status=$?
	expect_status 3
	expect_err 'without CAP_SYS_PTRACE'
fi
if ! is_root || ! $as_nobody "$dir/wallsample" -V >/dev/null 2>&1; then
	echo 'not root, or /tmp is noexec: nobody else can be played'
	finish
fi
what='wallsample as another user'
$as_nobody "$dir/wallsample" -d 50ms -p "$actor" >"$out" 2>"$err"
status=$?
expect_status 3
expect_err "process $actor (actor) belongs to user root (0), not to you"

# a process of one's own that does not want to be traced, or that Yama guards
cat >"$dir/as-nobody" <<END
#!/bin/sh
exec $as_nobody $dir/actor "\$@"
END
cp "$BUILD/tests/cli/actor" "$dir/actor"
chmod 755 "$dir/as-nobody"
ACTOR=$dir/as-nobody
actor undumpable
what='wallsample on a process that is not dumpable'
$as_nobody "$dir/wallsample" -d 50ms -p "$actor" >"$out" 2>"$err"
status=$?
expect_status 3
case $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0) in
0) expect_err "process $actor (actor) is yours but protected" ;;
*) expect_err 'kernel.yama.ptrace_scope is' ;;
esac

# Processes of one name: those of the user that started wallsample come first.
ACTOR=$dir/as-nobody
export ACTOR
name=ws$$
cp "$BUILD/tests/cli/actor" "$dir/$name"
cat >"$dir/as-nobody" <<END
#!/bin/sh
exec $as_nobody $dir/$name "\$@"
END
actor park
theirs=$actor
ACTOR=$dir/$name
actor park
ours=$actor
what='wallsample as root, with processes of one name of two users'
run -d 50ms --name "$name"
expect_status 64
expect_err 'of user nobody'
expect_err 'of user root'
what='wallsample by sudo, with processes of one name of two users'
SUDO_UID=65534 run -d 50ms --name "$name"
expect_status 0
expect_err "sampling process $theirs "
what='wallsample as root, with a process of another user'
kill "$ours"
wait "$ours" 2>/dev/null
run -d 50ms --name "$name"
expect_status 0
expect_err "sampling process $theirs ($name) of user nobody"

# With hidepid one's own processes are there, and those of others are not.
cat >"$dir/hidden" <<END
#!/bin/sh
mount -t proc -o hidepid=2 proc /proc || exit 77
exec $as_nobody "$dir/wallsample" -d 50ms "\$@"
END
chmod 755 "$dir/hidden"
if unshare -m true 2>/dev/null; then
	what='wallsample where /proc hides processes'
	unshare -m "$dir/hidden" -p "$theirs" >"$out" 2>"$err" </dev/null
	status=$?
	if [ "$status" -eq 77 ]; then
		echo 'left out: hidepid, which cannot be mounted here'
		finish
	fi
	expect_status 0
	ACTOR=$dir/$name
	actor park
	unshare -m "$dir/hidden" -p "$actor" >"$out" 2>"$err" </dev/null
	status=$?
	expect_status 3
	unshare -m "$dir/hidden" --name "$name" >"$out" 2>"$err" </dev/null
	status=$?
	expect_status 0
	expect_err "sampling process $theirs "
fi

finish
