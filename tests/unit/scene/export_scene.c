/* SPDX-License-Identifier: MIT */
/* export_scene.c - an invented profile for tests of exporters. */
#include "export_scene.h"
#include "wallsample/format/exporters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/unwind/chain.h"
#include "wallsample/process/module.h"

/* --- names, in place of those from symbol tables ------------------------------------- */

char longest[LONGEST];

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

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* --- output of exporters ---------------------------------------------------------------------- */

void
scene_add(struct profile *profile, uint32_t thread, enum run_state run, long syscall, int64_t ms,
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

	/* Weights as in a program with two runnable threads on two CPUs (running), or with three
	 * (queued). */
	if (run == RUN_RUNNING) {
		sample.ns[WEIGHT_CPU] = ms * MS;
		sample.ns[WEIGHT_LATENCY] = ms * MS / 2;
	} else if (run == RUN_QUEUED) {
		sample.ns[WEIGHT_CPU] = ms * MS * 2 / 3;
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

/* Adds `ms` of real time in which no thread ran. The time is recorded for a wait of `thread` in
 * `function`, because it ended when that wait ended. */
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

/* Adds ticks with up to 63 threads running at once, as on a machine with many CPUs. */
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

static struct profile *
make_profile(void)
{
	struct profile *profile = profile_create();
	const uint32_t boss = profile_add_thread(profile, 0, 4242, 1, "server");
	const uint32_t worker = profile_add_thread(profile, 0, 4250, 2, "pool;\x1b]0;x\x07");
	const uint32_t other = profile_add_thread(profile, 0, 4251, 2, "\xe6\x97\xa5\xe6\x9c\xac");
	const uint32_t failed = profile_intern_named(profile, "[failed: not stopped in 20 ms]");
	const uint32_t cut = profile_intern_named(profile, "[truncated: no unwind information]");
	const struct profile_entry failure = {
		.thread = worker, .state = RUN_QUEUED, .syscall = (int32_t)SYSCALL_NONE,
		.stack = profile_intern_stack(profile, failed, STACK_NONE),
		.samples = 2, .ns[WEIGHT_WALL] = 20 * MS,
	};
	const struct profile_entry truncated = {
		.thread = other, .state = RUN_UNINTERRUPTIBLE, .syscall = (int32_t)SYSCALL_NONE,
		.stack = profile_intern_stack(profile, cut, STACK_NONE),
		.samples = 1, .ns[WEIGHT_WALL] = 400, /* less than a microsecond */
	};

	scene_add(profile, boss, RUN_SLEEPING, syscall_number("epoll_wait"), 26000,
		   STACK(START, MAIN, LOOP, POLL));
	scene_add(profile, boss, RUN_RUNNING, -1, 3500, STACK(START, MAIN, LOOP, PARSE, PARSE));
	scene_add(profile, boss, RUN_QUEUED, -1, 300, STACK(START, MAIN, LOOP, PARSE, PARSE));
	scene_add(profile, boss, RUN_UNINTERRUPTIBLE, syscall_number("pread64"), 150,
		   STACK(START, MAIN, WIDE));
	scene_add(profile, worker, RUN_SLEEPING, syscall_number("futex"), 21000,
		   STACK(WORK, LOCK));
	scene_add(profile, worker, RUN_RUNNING, -1, 8000, STACK(WORK, HOSTILE));
	scene_add(profile, worker, RUN_SLEEPING, 99999, 7, STACK(SAME_NAME, LOCK));
	scene_add(profile, other, RUN_SLEEPING, SYSCALL_UNKNOWN, 90, STACK(MAIN, LOCK));
	scene_add(profile, other, RUN_SLEEPING, SYSCALL_NONE, 80, STACK(WORK, NAMELESS, JIT));
	scene_add(profile, other, RUN_STOPPED, SYSCALL_NONE, 40, STACK(WORK, JIT, NAMELESS));
	profile_add(profile, &failure);
	profile_add(profile, &truncated);
	add_waiting(profile, boss, "[sleeping in epoll_wait]", POLL, 9000);
	add_waiting(profile, worker, "[sleeping in futex]", LOCK, 3000);
	add_ticks(profile);
	return profile;
}

static struct run_stats *
make_stats(void)
{
	struct run_stats *stats = xcalloc(1, sizeof(*stats));

	*stats = (struct run_stats){
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

struct scene
scene_make(const struct filter *filter)
{
	struct scene scene = {
		.profile = make_profile(),
		.process = { .pid = 4242, .comm = "ser\x1b" "ver" },
		.stats = make_stats(),
	};

	scene.view = view_create(scene.profile, NULL, filter, VIEW_BY_FUNCTION);
	snprintf(scene.command, sizeof(scene.command),
		 "/usr/lib/\xe6\x97\xa5\xe6\x9c\xac/server --listen 0.0.0.0:8080 --workers 400 "
		 "--config /etc/server/server.conf --title \"a\tb\" --log-level notice "
		 "--storage /var/lib/server/storage --pid-file /run/server.pid --the-last-one");
	return scene;
}

void
scene_release(struct scene *scene)
{
	view_free(scene->view);
	profile_free(scene->profile);
	free(scene->stats);
}

struct export_input
scene_input(struct scene *scene)
{
	scene->process.cmdline = scene->command;
	return (struct export_input){
		.view = scene->view,
		.process = &scene->process,
		.stats = scene->stats,
		.end = RUN_END_DURATION,
		.full = true,
		.limit = 20,
		.thread_limit = 8,
		.columns = 80,
	};
}

char *
scene_write(const char *format, const struct export_input *input, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	assert_non_null(out);
	export_write(exporter_by_name(format), input, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

char *
scene_text(const char *format, const struct export_input *input)
{
	size_t size = 0;

	return scene_write(format, input, &size);
}
