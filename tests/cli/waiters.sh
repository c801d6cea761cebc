#!/bin/sh
# SPDX-License-Identifier: MIT
# Waits of one name are counted over time: five threads that sleep at the same time, in less than
# half of the time, are five at once.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
if ! python3 -c '' 2>/dev/null; then
	echo 'python3 is not there'
	exit 77
fi

cat >"$dir/sleepers.py" <<'END'
import select, socket, threading, time
together, (silent, other) = threading.Barrier(5), socket.socketpair()
def sleeper():
    while True:
        together.wait()
        time.sleep(0.4)
        select.select([silent], [], [], 0.6)
for _ in range(5):
    threading.Thread(target=sleeper, daemon=True).start()
print("ready", flush=True)
silent.recv(1)
END
cat >"$dir/sleepers" <<END
#!/bin/sh
exec python3 "$dir/sleepers.py"
END
chmod +x "$dir/sleepers"
ACTOR=$dir/sleepers
actor

run -q -d 4 -f json -o "$dir/report.json" -p "$actor"
[ "$status" -le 1 ] || expect_status 0
python3 - "$dir/report.json" <<'END' || complain "$what: not five at once"
import json, sys
waits = [w for w in json.load(open(sys.argv[1]))["waits"] if w["kind"] == "time to pass"]
print([(w["threads"], w["most_at_once"], w["wall_ns"]) for w in waits])
sys.exit(len(waits) != 1 or waits[0]["most_at_once"] != 5)
END
end_actor "$actor"
finish
