/* SPDX-License-Identifier: MIT */
/*
 * test_export.c - the registry, and what exporters write, byte by byte.
 *
 * The golden files are in tests/replay/. UPDATE_GOLDEN=1 in the environment
 * rewrites them: look at the difference before you keep it.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "../../src/export/display.h"
#include "golden.h"
#include "wallsample/base.h"
#include "wallsample/chain.h"
#include "wallsample/export.h"
#include "wallsample/module.h"

#define MS ((int64_t)NS_PER_MS)

/* --- names, in place of those from symbol tables ------------------------------------- */

enum {
	START, MAIN, LOOP, POLL, PARSE, WORK, LOCK, HOSTILE, WIDE, SAME_NAME, NAMELESS, JIT,
	TURNED, MARKUP, LONG,
};

static char longest[10000]; /* filled in by the test that has it */

static const struct symbol symbol[] = {
	[START] = { "_start", "server", .source = SYMBOL_SYMTAB },
	[MAIN] = { "main", "server", .source = SYMBOL_SYMTAB },
	[LOOP] = { "event_loop", "server", .source = SYMBOL_SYMTAB },
	[POLL] = { "__epoll_wait", "libc.so.6", .source = SYMBOL_SYMTAB },
	[PARSE] = { "json::parser<std::vector<char, std::allocator<char> >, "
		    "json::default_handler>::parse_value",
		    "server", .source = SYMBOL_SYMTAB },
	[WORK] = { "pool::worker::run", "server", .source = SYMBOL_SYMTAB },
	[LOCK] = { "__lll_lock_wait", "libc.so.6", .source = SYMBOL_SYMTAB },
	[HOSTILE] = { "evil;\x1b[31m\nname 7\xff", "lib\x07" "bell.so", .source = SYMBOL_SYMTAB },
	[WIDE] = { "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e_\xc3\xa9" "e\xcc\x81", "server",
		   .source = SYMBOL_SYMTAB },
	[SAME_NAME] = { "main", "plugin.so", .source = SYMBOL_SYMTAB },
	[NAMELESS] = { "libstripped.so.1+0x1a2b0", "libstripped.so.1", .source = SYMBOL_NONE },
	[JIT] = { "[anon]", "[anon]", .source = SYMBOL_NONE },
	[TURNED] = { "a\xe2\x80\xae" "z;\xe2\x80\xa8", "lib\xe2\x81\xa6.so",
		     .source = SYMBOL_SYMTAB },
	[MARKUP] = { "</script><script>alert(1)</script><!-- a|b@plt `x` *y* _z_ $1 \\fB T{ &amp; "
		     "{%#~^} [l](http://h/)", "'.TH", .source = SYMBOL_SYMTAB },
	[LONG] = { longest, "server", .source = SYMBOL_SYMTAB },
};

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	(void)symbols;
	(void)most;
	*out = symbol[place->vaddr];
	out->known = out->source != SYMBOL_NONE;
	return 1;
}

/* --- what is written ----------------------------------------------------------------------- */

struct recording {
	struct profile *profile;
	struct view *view;
	struct process process;
	struct sampler_stats *stats; /* large */
	char command[400];
};

/* Adds wall time of a stack of functions, outermost first, ended by a negative number. */
static void
add_sample(struct profile *profile, uint32_t thread, enum run_state run, long syscall, int64_t ms,
	   const int *functions)
{
	struct profile_entry sample = {
		.thread = thread,
		.stack = STACK_NONE,
		.state = run,
		.syscall = (int32_t)syscall,
		.samples = ms / 10,
		.ns[WEIGHT_WALL] = ms * MS,
	};

	/* As with two threads runnable on two CPUs, and with three. */
	if (run == RUN_RUNNING) {
		sample.ns[WEIGHT_OVERHEAD] = ms * MS;
		sample.ns[WEIGHT_LATENCY] = ms * MS / 2;
	} else if (run == RUN_QUEUED) {
		sample.ns[WEIGHT_OVERHEAD] = ms * MS * 2 / 3;
		sample.ns[WEIGHT_LATENCY] = ms * MS / 3;
	}
	for (; *functions >= 0; functions++) {
		const struct profile_frame frame = {
			.module = 0,
			.address = (uint64_t)*functions,
			.origin = *functions == NAMELESS ? FRAME_GUESS : FRAME_CFI,
		};
		const uint32_t id = profile_intern_frame(profile, &frame);

		sample.stack = profile_intern_stack(profile, id, sample.stack);
	}
	profile_add(profile, &sample);
}

/* Real time in which nobody ran, until this wait of the boss was over. */
static void
add_waiting(struct profile *profile, uint32_t thread, const char *kind, int function, int64_t ms)
{
	const struct profile_frame frame = {
		.module = 0,
		.address = (uint64_t)function,
		.origin = FRAME_CFI,
	};
	struct profile_entry sample = {
		.thread = thread,
		.state = RUN_SLEEPING,
		.syscall = (int32_t)syscall_number("epoll_wait"),
		.ns[WEIGHT_LATENCY] = ms * MS,
	};

	sample.stack = profile_intern_stack(profile, profile_intern_named(profile, "[waiting]"),
					    STACK_NONE);
	sample.stack = profile_intern_stack(profile, profile_intern_named(profile, kind),
					    sample.stack);
	sample.stack = profile_intern_stack(profile, profile_intern_frame(profile, &frame),
					    sample.stack);
	profile_add(profile, &sample);
}

/* On a machine with many CPUs. */
static void
add_ticks(struct profile *profile)
{
	static const struct {
		uint32_t parallelism, ms;
	} at[] = { { 0, 12000 }, { 1, 9000 },  { 2, 7000 },  { 3, 500 },  { 4, 0 },   { 7, 400 },
		   { 9, 300 },   { 16, 300 },  { 17, 300 },  { 40, 150 }, { 63, 50 } };

	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		for (uint32_t ms = 0; ms == 0 || ms < at[i].ms; ms += 10)
			profile_add_tick(profile, at[i].ms < 10 ? 0 : 10 * NS_PER_MS,
					 at[i].parallelism, at[i].parallelism);
}

#define STACK(...) ((const int[]){ __VA_ARGS__, -1 })

static struct profile *
make_profile(void)
{
	struct profile *profile = profile_create();
	const uint32_t boss = profile_add_thread(profile, 4242, 1, "server");
	const uint32_t worker = profile_add_thread(profile, 4250, 2, "pool;\x1b]0;x\x07");
	const uint32_t other = profile_add_thread(profile, 4251, 2, "\xe6\x97\xa5\xe6\x9c\xac");
	const uint32_t failed = profile_intern_named(profile, "[failed: not stopped in 20 ms]");
	const uint32_t cut = profile_intern_named(profile, "[truncated: no unwind information]");
	const struct profile_entry failure = {
		.thread = worker, .state = RUN_QUEUED, .syscall = (int32_t)SYSCALL_NONE,
		.stack = profile_intern_stack(profile, failed, STACK_NONE),
		.samples = 2, .ns[WEIGHT_WALL] = 20 * MS,
	};
	const struct profile_entry truncated = {
		.thread = other, .state = RUN_DISK, .syscall = (int32_t)SYSCALL_NONE,
		.stack = profile_intern_stack(profile, cut, STACK_NONE),
		.samples = 1, .ns[WEIGHT_WALL] = 400, /* too short for a microsecond */
	};

	add_sample(profile, boss, RUN_SLEEPING, syscall_number("epoll_wait"), 26000,
		   STACK(START, MAIN, LOOP, POLL));
	add_sample(profile, boss, RUN_RUNNING, -1, 3500, STACK(START, MAIN, LOOP, PARSE, PARSE));
	add_sample(profile, boss, RUN_QUEUED, -1, 300, STACK(START, MAIN, LOOP, PARSE, PARSE));
	add_sample(profile, boss, RUN_DISK, syscall_number("pread64"), 150,
		   STACK(START, MAIN, WIDE));
	add_sample(profile, worker, RUN_SLEEPING, syscall_number("futex"), 21000,
		   STACK(WORK, LOCK));
	add_sample(profile, worker, RUN_RUNNING, -1, 8000, STACK(WORK, HOSTILE));
	add_sample(profile, worker, RUN_SLEEPING, 99999, 7, STACK(SAME_NAME, LOCK));
	add_sample(profile, other, RUN_SLEEPING, SYSCALL_UNKNOWN, 90, STACK(MAIN, LOCK));
	add_sample(profile, other, RUN_SLEEPING, SYSCALL_NONE, 80, STACK(WORK, NAMELESS, JIT));
	add_sample(profile, other, RUN_STOPPED, SYSCALL_NONE, 40, STACK(WORK, JIT, NAMELESS));
	profile_add(profile, &failure);
	profile_add(profile, &truncated);
	add_waiting(profile, boss, "[sleeping in epoll_wait]", POLL, 9000);
	add_waiting(profile, worker, "[sleeping in futex]", LOCK, 3000);
	add_ticks(profile);
	return profile;
}

static struct sampler_stats *
make_stats(void)
{
	struct sampler_stats *stats = xcalloc(1, sizeof(*stats));

	*stats = (struct sampler_stats){
		.ticks = 2996,
		.elapsed_ns = 30 * NS_PER_SEC,
		.own_cpu_ns = 412 * NS_PER_MS,
		.peak_memory = 9 << 20,
		.thread_samples = 1234567,
		.threads_seen = 412,
		.threads_most = 403,
		.looks = 54321,
		.reused = 1200000,
		.read = 30000,
		.stopped = 4560,
		.failed = { [FAILURE_EXITED] = 5, [FAILURE_LATE] = 2 },
		.chains = {
			[CHAIN_OUTERMOST] = 34000, [CHAIN_DEPTH] = 1,
			[CHAIN_NO_UNWIND_INFO] = 1234,
		},
		.repaired = 17,
		.signals_passed = 1,
		.rate_wanted = 100,
		.rate_lowest = 62.5,
		.execed = true,
	};
	histogram_init(&stats->stop_ns);
	for (uint64_t i = 0; i < 4560; i++)
		histogram_add(&stats->stop_ns, 6000 + i);
	histogram_add(&stats->stop_ns, 123456);
	return stats;
}

static struct recording
make_recording(const struct filter *filter)
{
	struct recording recording = {
		.profile = make_profile(),
		.process = { .pid = 4242, .comm = "ser\x1b" "ver" },
		.stats = make_stats(),
	};

	recording.view = view_create(recording.profile, NULL, filter, VIEW_BY_FUNCTION);
	snprintf(recording.command, sizeof(recording.command),
		 "/usr/lib/\xe6\x97\xa5\xe6\x9c\xac/server --listen 0.0.0.0:8080 --workers 400 "
		 "--config /etc/server/server.conf --title \"a\tb\" --log-level notice "
		 "--storage /var/lib/server/storage --pid-file /run/server.pid --the-last-one");
	return recording;
}

static void
release_recording(struct recording *recording)
{
	view_free(recording->view);
	profile_free(recording->profile);
	free(recording->stats);
}

static struct export_input
input_of(struct recording *recording)
{
	recording->process.cmdline = recording->command;
	return (struct export_input){
		.view = recording->view,
		.process = &recording->process,
		.stats = recording->stats,
		.end = SAMPLER_DURATION,
		.limit = 20,
		.thread_limit = 8,
		.columns = 80,
	};
}

static char *
write_bytes(const char *format, const struct export_input *input, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	assert_non_null(out);
	exporter_by_name(format)->write(input, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *
write_text(const char *format, const struct export_input *input)
{
	size_t size = 0;

	return write_bytes(format, input, &size);
}

/* --- golden files ------------------------------------------------------------------------- */

static void
check_golden(const char *name, const char *format, const struct export_input *input)
{
	size_t size = 0;
	char *written = write_bytes(format, input, &size);

	golden_check(name, written, size);
	free(written);
}

static const struct filter all = { 0 };

static void
check_report(const char *name, unsigned columns)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	input.columns = columns;
	check_golden(name, "text", &input);
	release_recording(&recording);
}

static void
test_report_80(void **state)
{
	(void)state;
	check_report("report-80.txt", 80);
}

static void
test_report_200(void **state)
{
	(void)state;
	check_report("report-200.txt", 200);
}

static void
test_report_latency(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	(void)state;
	input.sort = WEIGHT_LATENCY;
	input.columns = 100;
	check_golden("report-latency.txt", "text", &input);
	check_golden("stacks-latency.folded", "folded", &input);
	release_recording(&recording);
}

static void
test_report_tree(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	regex_t focus;

	(void)state;
	assert_int_equal(regcomp(&focus, "^event_loop$|wait", REG_EXTENDED | REG_NOSUB), 0);
	input.tree = 12;
	input.focus = &focus;
	check_golden("report-tree.txt", "text", &input);
	regfree(&focus);
	release_recording(&recording);
}

static void
test_report_piped(void **state)
{
	(void)state;
	check_report("report-piped.txt", 0);
}

/* Short tables, a filter, the end of a child. */
static void
test_report_selected(void **state)
{
	struct recording recording = make_recording(
		&(struct filter){ .states = 1u << RUN_SLEEPING | 1u << RUN_RUNNING });
	struct export_input input = input_of(&recording);

	(void)state;
	input.limit = 2;
	input.filtered = true;
	input.end = SAMPLER_GONE;
	recording.stats->child_exited = true;
	recording.stats->child_status = SIGKILL; /* as wait(2) reports a death by it */
	check_golden("report-selected.txt", "text", &input);
	release_recording(&recording);
}

/* A table a thread, cut to a few rows; running threads that were left alone. */
static void
test_report_threads(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	(void)state;
	input.by_thread = true;
	input.thread_limit = 4;
	recording.stats->failed[FAILURE_NOT_STOPPED] = 1234;
	check_golden("report-threads.txt", "text", &input);
	release_recording(&recording);
}

/* More threads than are shown one by one. */
static void
test_report_many_threads(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	struct profile *profile = profile_create();
	struct view *view;

	(void)state;
	for (uint32_t i = 0; i < 13; i++)
		add_sample(profile, profile_add_thread(profile, 100 + (pid_t)i, 1, "worker"),
			   RUN_RUNNING, -1, 1000 - 10 * (int64_t)i, STACK(START, MAIN, LOOP));
	input.view = view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	input.by_thread = true;
	input.columns = 0;
	check_golden("report-many-threads.txt", "text", &input);
	view_free(view);
	profile_free(profile);
	release_recording(&recording);
}

/* The text of a report on 100 ticks: at so many of them a function alone was in this state, else
 * two threads ran. */
static char *
write_alone(uint32_t alone, enum run_state run)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	struct profile *profile = profile_create();
	const uint32_t one = profile_add_thread(profile, 100, 1, "one");
	const struct profile_entry serial = {
		.thread = one, .state = run, .syscall = (int32_t)SYSCALL_NONE,
		.stack = profile_intern_stack(profile, profile_intern_named(profile, "alone"),
					      STACK_NONE),
		.samples = alone, .ns = { alone * 10 * MS, alone * 10 * MS, alone * 10 * MS },
	};
	struct view *view;
	char *text;

	profile_add(profile, &serial);
	add_sample(profile, one, RUN_RUNNING, -1, 20 * (100 - alone), STACK(MAIN, HOSTILE));
	for (uint32_t i = 0; i < 100; i++)
		profile_add_tick(profile, 10 * NS_PER_MS, i < alone ? 1 : 2, i < alone ? 1 : 2);
	input.view = view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	text = write_text("text", &input);
	view_free(view);
	profile_free(profile);
	release_recording(&recording);
	return text;
}

/* What is not more than its margin, +-3.3 % of 3 %, is no finding; nor is time without a CPU. */
static void
test_report_gains(void **state)
{
	char *text;

	(void)state;
	for (int i = 0; i < 2; i++) {
		text = i == 0 ? write_alone(6, RUN_RUNNING) : write_alone(30, RUN_QUEUED);
		assert_null(strstr(text, "The whole took"));
		free(text);
	}
	text = write_alone(30, RUN_RUNNING);
	assert_non_null(strstr(text, "The whole took 1.00s, and would take so long"));
	assert_non_null(strstr(text, " 30.00%  1.00  850ms  alone"));
	free(text);
}

/* Nothing went wrong: the closing block has no lists. */
static void
test_report_clean(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	(void)state;
	input.snapshot = true;
	*recording.stats = (struct sampler_stats){
		.ticks = 1, .threads_seen = 1, .threads_most = 1, .thread_samples = 1, .looks = 1,
		.read = 1, .chains = { [CHAIN_OUTERMOST] = 1 }, .elapsed_ns = NS_PER_SEC,
		.rate_wanted = 1000, .rate_lowest = 1000,
	};
	check_golden("report-clean.txt", "text", &input);
	release_recording(&recording);
}

static void
test_report_empty(void **state)
{
	struct recording recording = make_recording(&(struct filter){ .thread_name = "nobody" });
	struct export_input input = input_of(&recording);
	struct profile *empty = profile_create();
	struct view *nothing = view_create(empty, NULL, &all, VIEW_BY_FUNCTION);
	char *text;

	(void)state;
	input.filtered = true;
	text = write_text("text", &input);
	assert_non_null(strstr(text, "No sample was selected.\n"));
	free(text);

	*recording.stats = (struct sampler_stats){ 0 };
	input.view = nothing;
	text = write_text("text", &input);
	assert_non_null(strstr(text, "There are no samples.\n"));
	free(text);
	text = write_text("folded", &input);
	assert_string_equal(text, "");
	free(text);
	text = write_text("json", &input);
	assert_non_null(strstr(text, "\"stacks\":[\n]\n}\n"));
	free(text);
	if (exporter_by_name("html")->absent == NULL) {
		text = write_text("html", &input);
		assert_non_null(strstr(text, "<p>There are no samples.</p>"));
		free(text);
	}
	view_free(nothing);
	profile_free(empty);
	release_recording(&recording);
}

static void
test_folded(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	(void)state;
	check_golden("stacks.folded", "folded", &input);
	input.by_thread = true;
	check_golden("stacks-by-thread.folded", "folded", &input);
	release_recording(&recording);
}

/*
 * The golden file is not compressed: how zlib does that may change. What is in it is compared
 * with the report by pprof itself, in tests/replay/pprof.sh.
 */
static void
test_pprof(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	struct view *view = view_create(recording.profile, NULL, &all, VIEW_BY_ADDRESS);
	size_t size = 0, again_size = 0;
	char *written, *again, unzipped[16384];
	z_stream zip = { 0 };

	(void)state;
	input.view = view;
	input.sort = WEIGHT_LATENCY;
	input.began_ns = 1700000000 * NS_PER_SEC;
	written = write_bytes("pprof", &input, &size);
	again = write_bytes("pprof", &input, &again_size);
	assert_int_equal(size, again_size);
	assert_memory_equal(written, again, size);
	assert_memory_equal(written + 4, "\0\0\0\0", 4); /* gzip's time of the file */
	zip.next_in = (unsigned char *)written;
	zip.avail_in = (unsigned)size;
	zip.next_out = (unsigned char *)unzipped;
	zip.avail_out = sizeof(unzipped);
	assert_int_equal(inflateInit2(&zip, 15 + 16), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
	golden_check("stacks-latency.pprof", unzipped, zip.total_out);
	inflateEnd(&zip);
	free(written);
	free(again);
	view_free(view);
	release_recording(&recording);
}

/* That the numbers are those of the folded stacks is tested by tests/replay/json.sh. */
static void
test_json(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	(void)state;
	check_golden("report.json", "json", &input);
	input.sort = WEIGHT_LATENCY;
	input.end = SAMPLER_GONE;
	input.began_ns = 1700000000 * NS_PER_SEC;
	check_golden("report-latency.json", "json", &input);
	release_recording(&recording);
}

/* Without recordings it has no timelines: those are in tests/unit/test_time_formats.c. */
static void
test_speedscope(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	(void)state;
	input.sort = WEIGHT_LATENCY;
	check_golden("stacks.speedscope.json", "speedscope", &input);
	release_recording(&recording);
}

static void
test_svg(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	(void)state;
	check_golden("flame.svg", "svg", &input);
	input.by_thread = true;
	input.sort = WEIGHT_LATENCY;
	check_golden("flame-latency.svg", "svg", &input);
	release_recording(&recording);
}

/* Names that are markup, in one format or another, and such as deceive stay text in all. */
static void
test_documents(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	const uint32_t thread = profile_add_thread(recording.profile, 4252, 3, "<b>&amp;|*");
	struct view *view;

	(void)state;
	add_sample(recording.profile, thread, RUN_RUNNING, -1, 2500, STACK(MAIN, MARKUP));
	add_sample(recording.profile, thread, RUN_RUNNING, -1, 1500, STACK(MARKUP, TURNED));
	input.view = view = view_create(recording.profile, NULL, &all, VIEW_BY_FUNCTION);
	recording.stats->cpus = 64;
	if (exporter_by_name("html")->absent == NULL) {
		check_golden("report.md", "markdown", &input);
		check_golden("report.tex", "latex", &input);
		check_golden("report.man", "man", &input);
		check_golden("report.html", "html", &input);
	}
	view_free(view);
	release_recording(&recording);
}

/* What limits a program is told by its functions, whatever the tables are of. */
static void
test_summary_by_module(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	struct view *modules = view_create(recording.profile, NULL, &all, VIEW_BY_MODULE);
	char *text;

	(void)state;
	if (exporter_by_name("markdown")->absent != NULL)
		skip();
	input.functions = input.view;
	input.view = modules;
	text = write_text("markdown", &input);
	assert_non_null(strstr(text, "**A lock**: threads that had work waited for a lock for "));
	assert_non_null(strstr(text, "## Modules\n"));
	free(text);
	view_free(modules);
	release_recording(&recording);
}

/* What is never in a page, whatever the names: an element or a comment that is not ours. */
static void
test_document_escapes(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	const uint32_t thread = profile_add_thread(recording.profile, 4252, 3, "<i>");
	struct view *view;
	char *text, *data;

	(void)state;
	if (exporter_by_name("html")->absent != NULL)
		skip();
	add_sample(recording.profile, thread, RUN_RUNNING, -1, 2500, STACK(MARKUP, TURNED));
	snprintf(recording.process.comm, sizeof(recording.process.comm), "<!--</h1>");
	input.view = view = view_create(recording.profile, NULL, &all, VIEW_BY_FUNCTION);
	/* each thread is a root, with -t */
	input.by_thread = true;
	text = write_text("html", &input);
	assert_non_null(strstr(text, "\"\\u003ci>-4252\""));
	assert_non_null(strstr(text, "\"server-4242\""));
	free(text);
	input.by_thread = false;
	text = write_text("html", &input);
	assert_null(strstr(text, "alert(1)</script>"));
	assert_null(strstr(text, "<!--"));
	assert_null(strstr(text, "<i>"));
	assert_null(strstr(text, "\xe2\x80\xa8"));
	assert_null(strstr(text, "href=\"http"));
	assert_null(strstr(text, " src="));
	assert_null(strstr(text, "\\u003ci>-4252"));
	data = strstr(text, "id=\"data\">");
	assert_non_null(data);
	*strstr(data, "</script>") = '\0';
	for (data = strchr(data, '{'); *data != '\0'; data++)
		assert_true(*data != '<' && (unsigned char)*data < 0x7f);
	free(text);
	view_free(view);
	release_recording(&recording);
}

/* A name of ten thousand letters does not fill the pages of a document. */
static void
test_document_fits(void **state)
{
	static const char *const formats[] = { "markdown", "latex", "man", "html" };
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	struct view *view;

	(void)state;
	if (exporter_by_name("html")->absent != NULL)
		skip();
	memset(longest, 'x', sizeof(longest) - 1);
	add_sample(recording.profile, 0, RUN_RUNNING, -1, 2500, STACK(MAIN, LONG));
	input.view = view = view_create(recording.profile, NULL, &all, VIEW_BY_FUNCTION);
	input.tree = 20;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char *text = write_text(formats[i], &input);

		for (char *at = text; (at = strstr(at, "xxx")) != NULL; at += strspn(at, "x"))
			assert_true(strspn(at, "x") < 320);
		assert_non_null(strstr(text, "xxx"));
		free(text);
	}
	view_free(view);
	release_recording(&recording);
}

/* Characters that do not show are seen in a report, and stay what they are in folded stacks. */
static void
test_deceptive_names(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);
	struct profile *profile = profile_create();
	struct view *view;
	char *text;

	(void)state;
	add_sample(profile, profile_add_thread(profile, 100, 1, "t\xe2\x80\x8b"), RUN_RUNNING, -1,
		   1000, STACK(MAIN, TURNED));
	input.view = view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	input.by_thread = true;
	input.columns = 120; /* nothing is cut */
	snprintf(recording.process.comm, sizeof(recording.process.comm), "c\xe2\x80\xad");
	text = write_text("text", &input);
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_non_null(strstr(text, "a\\u202ez;\\u2028 (lib\\u2066.so)"));
	assert_non_null(strstr(text, "(t\\u200b)"));
	assert_non_null(strstr(text, "(c\\u202d)"));
	free(text);
	text = write_text("folded", &input);
	assert_string_equal(text, "t\xe2\x80\x8b-100;main;a\xe2\x80\xaez:\\u2028 1000000\n");
	free(text);
	view_free(view);
	profile_free(profile);
	release_recording(&recording);
}

/* At any width no line is wider, and no byte could move a cursor. */
static void
test_report_fits(void **state)
{
	struct recording recording = make_recording(&all);
	struct export_input input = input_of(&recording);

	(void)state;
	for (unsigned columns = 60; columns <= 240; columns++) {
		char *text, *rest, *line;

		input.columns = columns;
		input.by_thread = columns % 2 == 0;
		text = rest = write_text("text", &input);
		while ((line = strsep(&rest, "\n")) != NULL) {
			const size_t length = strlen(line);

			assert_true(display_width(line) <= columns);
			assert_true(length == 0 || line[length - 1] != ' ');
			for (size_t i = 0; i < length; i++)
				assert_true((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
		}
		free(text);
	}
	release_recording(&recording);
}

/* --- registry ------------------------------------------------------------------------------- */

static void
test_registry(void **state)
{
	(void)state;
	for (size_t i = 0; exporters[i] != NULL; i++) {
		assert_ptr_equal(exporter_by_name(exporters[i]->name), exporters[i]);
		assert_non_null(exporters[i]->help);
		assert_non_null(exporters[i]->noun);
		assert_true((exporters[i]->write == NULL) == (exporters[i]->absent != NULL));
	}
	assert_null(exporter_by_name("fold"));
	assert_null(exporter_by_name(""));
	assert_string_equal(exporter_by_file("a.folded")->name, "folded");
	assert_string_equal(exporter_by_file("/x.y/b.c.collapsed")->name, "folded");
	assert_string_equal(exporter_by_file("r.txt")->name, "text");
	assert_string_equal(exporter_by_file("x/a.b.pb.gz")->name, "pprof");
	assert_null(exporter_by_file("a.b.gz"));
	assert_string_equal(exporter_by_file("a.b.json")->name, "json");
	assert_string_equal(exporter_by_file("a.speedscope.json")->name, "speedscope");
	assert_string_equal(exporter_by_file("a.perf")->name, "perf");
	assert_string_equal(exporter_by_file("a.perf.txt")->name, "perf");
	assert_null(exporter_by_file("folded"));
	assert_null(exporter_by_file("a.folded/b"));
	assert_null(exporter_by_file("a.fold"));
	assert_null(exporter_by_file("a.folded,collapsed"));
	assert_null(exporter_by_file("a."));
	assert_null(exporter_by_file(""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_speedscope),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_summary_by_module),
		cmocka_unit_test(test_document_escapes),
		cmocka_unit_test(test_document_fits),
		cmocka_unit_test(test_deceptive_names),
		cmocka_unit_test(test_report_80),
		cmocka_unit_test(test_report_200),
		cmocka_unit_test(test_report_piped),
		cmocka_unit_test(test_report_latency),
		cmocka_unit_test(test_report_tree),
		cmocka_unit_test(test_report_selected),
		cmocka_unit_test(test_report_threads),
		cmocka_unit_test(test_report_many_threads),
		cmocka_unit_test(test_report_gains),
		cmocka_unit_test(test_report_clean),
		cmocka_unit_test(test_report_empty),
		cmocka_unit_test(test_report_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
