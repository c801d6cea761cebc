# SPDX-License-Identifier: MIT
"""Reads a perf.data file by the layout in tools/perf/Documentation/perf.data-file-format.txt and
linux/perf_event.h, and compares it with a JSON report and with text of perf script of the same
recording:

    perf_data.py DATA JSON TEXT WEIGHT

Periods must add up to the times of the report, for each thread and event, to the nanosecond. Each
record of the text must be a sample with the same thread, time and stack.
"""
import collections
import json
import re
import struct
import sys

MMAP, COMM, SAMPLE, MMAP2, SWITCH, KSYMBOL, ROUND = 1, 3, 9, 10, 14, 17, 68
SWITCH_OUT = 1 << 13
KERNEL, USER = 2**64 - 128, 2**64 - 512
SAMPLE_TYPE = 1 << 16 | 1 << 8 | 1 << 5 | 1 << 2 | 1 << 1 | 1
FEATURES = {3: "host", 4: "kernel", 5: "version", 6: "arch", 7: "cpus", 11: "command",
            12: "events", 21: "times"}


class Failure(Exception):
    pass


def require(condition, *words):
    if not condition:
        raise Failure(" ".join(str(word)[:200] for word in words))


def text_at(data, at):
    """A text that is padded with zeros to the end of `data`, or is followed by other members."""
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


class File:
    """The samples of a perf.data file, with the names of events, threads and frames."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.events = {}
        self.threads = {}
        self.symbols = {}    # addresses of the kernel
        self.maps = collections.defaultdict(list)
        self.samples = []
        self.largest = 0
        self.running = 1     # threads on a CPU, as perf counts them
        self.read_header()

    def unpack(self, layout, at):
        return struct.unpack_from("<" + layout, self.data, at)

    def read_header(self):
        magic, size, attr_size, attrs, attrs_size, start, length, _, _ = self.unpack("8s8Q", 0)
        bits = self.unpack("4Q", 72)
        require(magic == b"PERFILE2" and size == 104, "no header")
        require(attr_size == 112 + 16 and attrs_size % attr_size == 0, "attributes")
        ids = [self.read_attribute(at) for at in range(attrs, attrs + attrs_size, attr_size)]
        require(attrs + attrs_size == start, "the records follow the attributes")
        self.read_features(start + length, bits)
        require(sorted(self.events) == sorted(ids), "events", self.events, ids)
        self.read_records(start, start + length)

    def read_attribute(self, at):
        kind, size, _, _, sample_type, read_format, flags = self.unpack("IIQQQQQ", at)
        ids_at, ids_size = self.unpack("QQ", at + size)
        require(kind == 1 and size == 112 and sample_type == SAMPLE_TYPE, "an attribute")
        require(read_format == 0 and flags >> 18 & 1, "sample_id_all")
        require(ids_size == 8, "one id")
        return self.unpack("Q", ids_at)[0]

    def read_features(self, at, bits):
        require(bits[1:] == (0, 0, 0), "unknown features")
        numbers = [i for i in range(64) if bits[0] >> i & 1]
        sections = [self.unpack("QQ", at + 16 * i) for i in range(len(numbers))]
        end = at + 16 * len(numbers)
        for number, (offset, size) in zip(numbers, sections):
            require(offset == end and number in FEATURES, "feature", number)
            end += size
            if FEATURES[number] == "events":
                self.read_event_names(offset, offset + size)
            if FEATURES[number] == "times":
                self.times = self.unpack("QQ", offset)
        require(end == len(self.data), "the features end the file")
        require({3, 6, 12} <= set(numbers), "missing features")

    def read_event_names(self, at, end):
        count, attr_size = self.unpack("II", at)
        at += 8
        for _ in range(count):
            at += attr_size
            ids, size = self.unpack("II", at)
            require(ids == 1 and size % 64 == 0, "a name of an event")
            name, _ = text_at(self.data, at + 8)
            at += 8 + size
            self.events[self.unpack("Q", at)[0]] = name
            at += 8
        require(at == end, "names of events")

    def read_records(self, at, end):
        while at < end:
            kind, misc, size = self.unpack("IHH", at)
            require(size >= 8 and size % 8 == 0 and at + size <= end, "a size of", size)
            self.read_record(kind, misc, at + 8, self.data[at + 8:at + size])
            self.largest = max(self.largest, size)
            at += size
        require(at == end, "records")

    def read_record(self, kind, misc, at, body):
        if kind == SAMPLE:
            self.read_sample(misc, at, len(body))
            return
        if kind == ROUND:
            require(not body, "a round")
            return
        if kind == SWITCH:
            require(len(body) == 24 and misc in (0, SWITCH_OUT), "a switch")
            self.running += -1 if misc == SWITCH_OUT else 1
            require(0 <= self.running <= 4096, self.running, "threads on a CPU")
            return
        head = {COMM: 8, MMAP: 32, MMAP2: 64, KSYMBOL: 16}[kind]
        text, after = text_at(body, head)
        require(not body[after:-24].strip(b"\0") and len(body) - 24 - after < 8, "padding")
        require(struct.unpack_from("<Q", body, len(body) - 8)[0] == 0, "an id")
        if kind == KSYMBOL:
            address, length = struct.unpack_from("<QI", body)
            require(length == 1 and address not in self.symbols and len(text) < 256, "a symbol")
            self.symbols[address] = text
            return
        pid, tid = struct.unpack_from("<II", body)
        if kind == COMM:
            self.threads[pid, tid] = text
        elif pid != 2**32 - 1:
            start, length, offset = struct.unpack_from("<QQQ", body, 8)
            require(length % 4096 == 0 and offset % 4096 == 0, "a mapping")
            self.maps[pid].append((start, start + length, text))

    def read_sample(self, misc, at, size):
        event, ip, pid, tid, ns, period, count = self.unpack("QQIIQQQ", at)
        require(size == 48 + 8 * count and event in self.events, "a sample of", size)
        words = self.unpack("%dQ" % count, at + 48)
        require(count > 1 and words[0] in (KERNEL, USER) and words[1] == ip, "a call chain")
        require(misc == (1 if words[0] == KERNEL else 2), "the mode of a sample")
        stack, context = [], None
        for word in words:
            if word in (KERNEL, USER):
                require(word != context, "a context twice")
                context = word
            else:
                stack.append(self.name(pid, context, word))
        require((pid, pid) in self.threads, "a process without a name")
        self.samples.append((self.events[event], pid, tid, ns, period, stack))

    def name(self, pid, context, address):
        if context == KERNEL:
            return self.symbols[address]
        names = {text for start, end, text in self.maps[pid] if start <= address < end}
        require(len(names) == 1, "address", hex(address), names)
        return names.pop()


def event_of(state):
    if state in ("waiting for a CPU", "ready"):
        return "cpu-wait"
    return "cpu" if state == "running" else "wait"


def compare_times(file, report, weight):
    """The periods against the weights of the report, by thread and event."""
    periods, times = collections.Counter(), collections.Counter()
    for event, _, tid, _, period, _ in file.samples:
        periods[tid, event] += period
    for stack in report["stacks"]:
        event = event_of(stack["state"])
        if weight == "wall" or event == "cpu" or (weight == "latency" and event == "cpu-wait"):
            times[report["threads"][stack["thread"]]["tid"], event] += stack[weight + "_ns"]
    times = +times
    require(periods == times, "periods", periods - times, "times", times - periods)
    require({event for _, event in times} == set(file.events.values()), "events without samples")


def plain(name):
    """What formats do to names differs: only letters and digits are compared."""
    return re.sub(r"\W", "", name)


def is_same(name, other):
    """A path in place of a name is that of the file with the code. Long names are cut."""
    name, other = plain(name) if not name.startswith("/") else "", plain(other)
    return not name or other == "unknown" or name.startswith(other) or other.startswith(name)


def compare_stacks(stack, names):
    """
    Frames against the names in the text. A frame that is only a path is code of a file that this
    machine has: the text may have several functions for its address.
    """
    has_code = any(name.startswith("/") for name in stack)
    rest = list(names)
    for name in stack:
        require(rest, stack, "is longer than", names)
        while has_code and len(rest) > 1 and not is_same(name, rest[0]):
            rest.pop(0)
        require(is_same(name, rest.pop(0)), name, "of", stack, "is not in", names)
    require(has_code or not rest, stack, "is shorter than", names)


def compare_records(file, text):
    """Threads, times and stacks against the records of perf script's text."""
    records = []
    for record in re.sub(r"(?m)^#.*\n", "", text).strip("\n").split("\n\n"):
        head, *frames = record.split("\n")
        tid, seconds = re.search(r"\d+/(\d+)\s+(\d+\.\d+):\s", head).groups()
        names = [re.match(r"\s+\w+ (.*) \(\S*\)$", frame).group(1) for frame in frames]
        records.append((int(tid), int(seconds.replace(".", "")), names))
    require(len(file.samples) >= len(records), len(file.samples), "samples of", len(records))
    for (_, _, tid, ns, _, stack), (other_tid, us, names) in zip(file.samples, records):
        require((tid, ns // 1000) == (other_tid, us), "a record of", tid, "at", ns)
        compare_stacks(stack, names)
    times = [sample[3] for sample in file.samples]
    require(times == sorted(times), "not in the order of time")
    require(file.times == (times[0], times[-1]), "times", file.times)


def main():
    data, report, text, weight = sys.argv[1:]
    file = File(data)
    with open(report, encoding="utf-8") as source:
        compare_times(file, json.load(source), weight)
    with open(text, encoding="utf-8", newline="\n") as source:
        compare_records(file, source.read())
    print("%s: %d samples of %s, the largest record has %d bytes" % (
        data.rsplit("/", 1)[-1], len(file.samples), ", ".join(sorted(file.events.values())),
        file.largest))


try:
    main()
except Failure as failure:
    print("%s: %s" % (sys.argv[1], failure))
    sys.exit(1)
