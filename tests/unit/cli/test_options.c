/* SPDX-License-Identifier: MIT */
/* test_options.c - the command line as data, and what depends on it alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/run_internal.h"
#include "wallsample/runtime/gil.h"
#include "wallsample/thread/state.h"
#include "wallsample/analysis/view.h"

#define WORDS_MOST 32

/* A command of each kind: without a name, with files, and one that takes few options. */
static const struct command commands[] = {
	{ .name = "", .bit = FOR_RUN },
	{ .name = "report", .bit = FOR_REPORT, .operands = "FILE…" },
	{ .name = "info", .bit = FOR_INFO, .operands = "FILE…" },
	{ .name = "causal", .bit = FOR_CAUSAL, .operands = "[FILE]" },
	{ .name = NULL },
};

static struct options options;
static struct error err;

/* Parses words that are separated by one space. */
static int
parse(const char *line)
{
	static char text[512];
	static char *words[WORDS_MOST + 2];
	char *rest = text;
	int count = 0;

	snprintf(text, sizeof(text), "wallsample %s", line);
	while (rest != NULL && *rest != '\0' && count < WORDS_MOST)
		words[count++] = strsep(&rest, " ");
	words[count] = NULL;
	memset(&err, 0, sizeof(err));
	options_release(&options);
	return options_parse(count, words, commands, &options, &err);
}

/* The line is wrong, and the sentence has the text in it. */
static void
refused(const char *line, const char *text)
{
	if (parse(line) != -ERROR_USAGE)
		fail_msg("'%s' was taken", line);
	assert_int_equal(err.kind, ERROR_USAGE);
	if (strstr(err.text, text) == NULL)
		fail_msg("'%s' gave \"%s\", without \"%s\"", line, err.text, text);
}

static void
accepted(const char *line)
{
	if (parse(line) != 0)
		fail_msg("'%s': %s", line, err.text);
}

/* Several processes: lists and options add up, and each process is there once. */
static void
test_pids(void **state)
{
	static const uint64_t ids[] = { 5, 6, 7 };

	(void)state;
	accepted("-p 5,6 --pid 6,7");
	assert_int_equal(options.pids.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(options.pids.id[i], ids[i]);
}

static void
test_defaults(void **state)
{
	(void)state;
	accepted("");
	assert_true(options.rate_hz == 100);
	assert_int_equal(options.limit, 0);
	assert_true(options.max_overhead == 5);
	assert_int_equal(options.stack_size, 1 << 20);
	assert_int_equal(options.unwinder, UNWIND_AUTO);
	assert_int_equal(options.duration_ns, 0);
	assert_int_equal(options.pids.count, 0);
	assert_null(options.command);
	assert_false(options.quiet || options.help || options.version);
	/* started without even a name */
	options_release(&options);
	assert_int_equal(options_parse(0, (char *[]){ NULL }, commands, &options, &err), 0);
}

static void
test_values(void **state)
{
	(void)state;
	accepted("-p 12 -d 1.5 -r 99.5 -n 7 --max-overhead 50 --stack-size 64K -o x -f folded");
	assert_int_equal(options.pids.count, 1);
	assert_int_equal(options.pids.id[0], 12);
	assert_int_equal(options.duration_ns, 1500 * NS_PER_MS);
	assert_true(options.rate_hz == 99.5);
	assert_int_equal(options.limit, 7);
	assert_true(options.max_overhead == 50);
	assert_int_equal(options.stack_size, 65536);
	assert_string_equal(options.output, "x");
	assert_string_equal(options.format, "folded");
	accepted("--name red* --thread-name io-* -I ^a -X b$ --unwinder libdw");
	assert_string_equal(options.name, "red*");
	assert_string_equal(options.filter.thread_name, "io-*");
	assert_int_equal(regexec(options.filter.include, "ax", 0, NULL, 0), 0);
	assert_int_equal(regexec(options.filter.include, "xb", 0, NULL, 0), REG_NOMATCH);
	assert_int_equal(regexec(options.filter.exclude, "xb", 0, NULL, 0), 0);
	assert_int_equal(regexec(options.filter.exclude, "ax", 0, NULL, 0), REG_NOMATCH);
	assert_int_equal(options.unwinder, UNWIND_LIBDW);
	accepted("--sort cpu");
	assert_int_equal(options.sort, WEIGHT_CPU);
	accepted("--sort overhead"); /* its former word */
	assert_int_equal(options.sort, WEIGHT_CPU);
	/* the last one counts */
	accepted("-d 1 -d 2");
	assert_int_equal(options.duration_ns, 2 * NS_PER_SEC);
}

static void
test_ways_to_write(void **state)
{
	(void)state;
	accepted("-qtvv -d30 -o- --rate=50 -vp7");
	assert_true(options.quiet && options.threads);
	assert_int_equal(options.verbose, 3);
	assert_int_equal(options.duration_ns, 30 * NS_PER_SEC);
	assert_string_equal(options.output, "-");
	assert_true(options.rate_hz == 50);
	assert_int_equal(options.pids.count, 1);
	assert_int_equal(options.pids.id[0], 7);
	accepted("-td2 --keep-root --no-jitter --stop-all --nonblocking -V");
	assert_true(options.threads && options.keep_root && options.no_jitter);
	assert_true(options.stop_all && options.nonblocking && options.version);
	/* a word that looks like an option can be an argument */
	accepted("-o -p");
	assert_string_equal(options.output, "-p");
}

static void
test_command(void **state)
{
	(void)state;
	accepted("-d 5 -- ls -l --help");
	assert_string_equal(options.command[0], "ls");
	assert_string_equal(options.command[2], "--help");
	assert_null(options.command[3]);
	assert_false(options.help);
	refused("--", "a command must follow");
}

static void
test_lists(void **state)
{
	(void)state;
	assert_int_equal(parse("--tid 5,6 --tid 4194304"), 0);
	assert_int_equal(options.filter.tids.count, 3);
	assert_int_equal(options.filter.tids.id[0], 5);
	assert_int_equal(options.filter.tids.id[1], 6);
	assert_int_equal(options.filter.tids.id[2], 4194304);
	options_release(&options);
	assert_null(options.filter.tids.id);
	accepted("--state r,SLEEPING --state D");
	assert_int_equal(options.filter.states,
			 1 << RUN_RUNNING | 1 << RUN_SLEEPING | 1 << RUN_UNINTERRUPTIBLE);
	accepted("--gil has,wait --gil handover --by gil");
	assert_int_equal(options.filter.gils, 1 << GIL_HAS | 1 << GIL_WAIT | 1 << GIL_HANDOVER);
	assert_int_equal(options.by, VIEW_BY_GIL);
	refused("--tid 5,", "thread ids");
	refused("--tid ,5", "thread ids");
	refused("--tid 0", "thread ids");
	refused("--tid 4194305", "thread ids");
	refused("--tid 5;6", "thread ids");
	refused("--state R,W", "'W' is not a state; states are: R running, Q waiting for a CPU");
	refused("--state R,,S", "'' is not a state");
	refused("--gil has,x", "--gil: 'x' is none of none, has, wait, handover");
	refused("--gil unknown", "'unknown' is none of none, has");
}

static void
test_refusals(void **state)
{
	(void)state;
	refused("-p x", "'x' is not a process id");
	refused("-p 0", "'0' is not a process id");
	refused("-p -1", "'-1' is not a process id");
	refused("-p 4194305", "is not a process id");
	refused("-d 0", "-d: '0' is not a time");
	refused("--duration 1y", "--duration: '1y' is not a time");
	refused("-d 0.5ms", "from 0.001");
	refused("-r 0", "from 0.01 to 10000 Hz");
	refused("-r 10001", "from 0.01 to 10000 Hz");
	refused("-r nan", "is not a number");
	refused("-n 0", "whole number");
	refused("-n 1.5", "whole number");
	refused("--max-overhead 101", "percent");
	refused("--stack-size 4095", "bytes");
	refused("--stack-size 2G", "bytes");
	refused("--unwinder x", "auto|libunwind|libdw");
	refused("-d", "-d needs an argument: -d T");
	refused("--name --", "--name needs an argument: --name GLOB");
	refused("-o --", "-o needs an argument");
	refused("-qd", "-d needs an argument");
	refused("--output=", "needs a FILE");
	refused("--quiet=1", "takes no argument");
	refused("-", "'-' is not an option");
	refused("1234", "say: wallsample -p 1234");
	refused("redis -p 1", "wallsample --name redis");
	refused("-p 1 redis", "the process to sample is already given");
	refused("--pid redis", "--name redis finds a process by its name");
	refused("reprt x.wsdb", "did you mean 'wallsample report'?");
	refused("repotr x.wsdb", "did you mean 'wallsample report'?");
	refused("-q report", "'report' must be the first word");
	refused("-I (", "-I: '(' is not a regular expression: ");
	refused("--focus [", "--focus: '[' is not a regular expression: ");
	refused("-I a( -X b", "is not a regular expression");
	refused("causal --speedups 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
		"has more than 15 speed-ups above 0");
}

static void
test_unknown_options(void **state)
{
	(void)state;
	refused("-p 5,x", "-p: 'x' is not a process id");
	refused("-p 5,,6", "a process id, or a list such as 812,813");
	refused("-p 5,0", "a process id, or a list such as 812,813");
	refused("--dration 5", "unknown option '--dration'; did you mean '--duration'?");
	refused("--dur=5", "did you mean '--duration'?");
	refused("--stacksize 5", "did you mean '--stack-size'?");
	refused("--non-blocking", "did you mean '--nonblocking'?");
	refused("--zzzzzzzz", "wallsample --help lists all options");
	refused("--x", "wallsample --help");
	refused("--a-name-that-is-longer-than-any-option-could-be=1", "wallsample --help");
	refused("-P 5", "unknown option '-P'; did you mean '-p'?");
	refused("-z", "unknown option '-z'; wallsample --help");
	refused("-qz", "unknown option '-z'");
	/* only options that the command takes are suggested */
	refused("--focu x", "did you mean '--focus'?");
	refused("info --focu x", "wallsample info --help lists all options");
	refused("-pid 5", "did you mean '--pid'?");
	refused("-name=x", "did you mean '--name=x'?");
	refused("-%", "unknown option '-%'");
}

/* Whoever asks for help gets it. */
static void
test_help_comes_first(void **state)
{
	(void)state;
	accepted("-h --bogus 7");
	assert_true(options.help);
	refused("--bogus -h", "unknown option");
}

/* Each row can be used, and no two are the same. */
static void
test_table_is_sound(void **state)
{
	(void)state;
	for (const struct option_row *a = option_table; a->name != NULL; a++) {
		bool flag = a->type == OPTION_FLAG || a->type == OPTION_COUNT;

		assert_true(strlen(a->name) > 1 && strlen(a->name) < 32);
		assert_true(flag == (a->argument == NULL));
		assert_true((a->type == OPTION_CHOICE) == (a->choices != NULL));
		assert_true(a->offset < sizeof(struct options));
		assert_non_null(a->help);
		for (const struct option_row *b = option_table; b < a; b++) {
			assert_string_not_equal(a->name, b->name);
			assert_true(a->letter == 0 || a->letter != b->letter);
			assert_true(a->offset != b->offset);
		}
	}
}

/* A row that leaves samples out says so to reports, to the sampler and to core files. */
static void
test_selection(void **state)
{
	struct strbuf text;

	(void)state;
	strbuf_init(&text);
	accepted("-d 5 --native=none");
	assert_false(options_are_filtered(&options));
	assert_false(filter_selects_threads(&options.filter));
	accepted("--state R");
	assert_true(options_are_filtered(&options));
	assert_false(filter_selects_threads(&options.filter));
	options_add_thread_filters(&options, &text);
	assert_int_equal(text.length, 0);
	assert_null(option_given_without_core(&options));
	accepted("--thread-name x --tid 1");
	assert_true(filter_selects_threads(&options.filter));
	options_add_thread_filters(&options, &text);
	assert_string_equal(text.data, "--tid, --thread-name");
	strbuf_clear(&text);
	accepted("--exclude-thread a*,b --exclude-thread c");
	assert_int_equal(options.filter.exclude_thread.count, 2);
	assert_true(options_are_filtered(&options));
	options_add_thread_filters(&options, &text);
	assert_string_equal(text.data, "--exclude-thread");
	refused("--exclude-thread=", "needs a GLOB");
	accepted("-p 1,2 --process 1,ngi* --process x --exclude-process a*,b");
	assert_int_equal(options.filter.process.count, 2);
	assert_int_equal(options.filter.exclude_process.count, 1);
	assert_true(filter_selects_processes(&options.filter));
	assert_true(options_are_filtered(&options));
	assert_string_equal(option_given_without_core(&options)->name, "process");
	refused("--process=", "needs a LIST");
	accepted("--thread-name x --tid 1");
	assert_string_equal(option_given_without_core(&options)->name, "thread-name");
	strbuf_release(&text);
}

static void
test_output_names(void **state)
{
	struct strbuf name;

	(void)state;
	strbuf_init(&name);
	setenv("WALLSAMPLE_TEST", "a/b", 1);
	assert_int_equal(output_name_expand("x-%p-%%-%{WALLSAMPLE_TEST}.txt", 12, &name, &err), 0);
	assert_string_equal(name.data, "x-12-%-a_b.txt");
	setenv("WALLSAMPLE_TEST", "..", 1);
	assert_int_equal(output_name_expand("%{WALLSAMPLE_TEST}/x", 1, &name, &err), 0);
	assert_string_equal(name.data, "_/x");
	assert_int_equal(output_name_expand("%t", 1, &name, &err), 0);
	assert_int_equal(name.length, strlen("20240131-235959"));
	assert_int_equal(name.data[8], '-');
	assert_int_equal(output_name_expand("%h", 1, &name, &err), 0);
	assert_true(name.length > 0 && strchr(name.data, '/') == NULL);
	unsetenv("WALLSAMPLE_TEST");
	assert_int_equal(output_name_expand("%{WALLSAMPLE_TEST}", 1, &name, &err), -ERROR_USAGE);
	assert_int_equal(output_name_expand("%{WALL", 1, &name, &err), -ERROR_USAGE);
	assert_int_equal(output_name_expand("%{", 1, &name, &err), -ERROR_USAGE);
	assert_int_equal(output_name_expand("%{}", 1, &name, &err), -ERROR_USAGE);
	assert_int_equal(output_name_expand("%q", 1, &name, &err), -ERROR_USAGE);
	assert_int_equal(output_name_expand("x%", 1, &name, &err), -ERROR_USAGE);
	strbuf_release(&name);
}

static void
test_format_choice(void **state)
{
	static const struct {
		const char *format, *output, *chosen; /* NULL: refused */
	} cases[] = {
		{ NULL, NULL, "text" },       { NULL, "-", "text" },
		{ NULL, "x.folded", "folded" }, { NULL, "x.txt", "text" },
		{ NULL, "x.log", "text" },    { NULL, "x", "text" },
		{ NULL, "x.%p", "text" },     { NULL, "x.1234", "text" },
		{ NULL, "a.b/x", "text" },    { NULL, ".profile", "text" },
		{ NULL, "x.", "text" },       { "folded", "x.pdf", "folded" },
		{ "text", "x.folded", "text" }, { NULL, "x.pdf", NULL },
		{ "pdf", NULL, NULL },        { "", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct exporter *exporter = NULL;
		const struct options given = {
			.verb = commands, .format = cases[i].format, .output = cases[i].output,
		};
		int rc = output_format_choose(&given, &exporter, &err);

		if (cases[i].chosen == NULL) {
			assert_int_equal(rc, -ERROR_USAGE);
			assert_non_null(strstr(err.text, "folded"));
		} else {
			assert_int_equal(rc, 0);
			assert_string_equal(exporter->name, cases[i].chosen);
		}
	}
}

static void
test_target_usage(void **state)
{
	static const char *const bad[] = {
		"",           "-d 5",           "-p 1 --name x",           "-p 1 -- x",
		"--name x -- y", "-p 1 --keep-root", "-p 1 --stop-all --nonblocking",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		accepted(bad[i]);
		assert_int_equal(target_check_usage(&options, &err), -ERROR_USAGE);
	}
	accepted("-p 1");
	assert_int_equal(target_check_usage(&options, &err), 0);
	accepted("--keep-root -- x");
	assert_int_equal(target_check_usage(&options, &err), 0);
}

static void
test_exit_status(void **state)
{
	static struct run_stats stats;
	struct strbuf why;

	(void)state;
	strbuf_init(&why);
	assert_int_equal(sample_exit_status(&stats, &why), 2);
	stats.thread_samples = 1000;
	assert_int_equal(sample_exit_status(&stats, &why), 0);
	stats.failed[FAILURE_NOT_STOPPED] = 1000;
	stats.failed[FAILURE_LATE] = 4;
	stats.failed[FAILURE_UNREADABLE] = 6;
	/* threads that end are no failure of ours: only if there was nothing else */
	stats.failed[FAILURE_EXITED] = 900;
	assert_int_equal(sample_exit_status(&stats, &why), 0);
	assert_int_equal(why.length, 0);
	stats.failed[FAILURE_UNREADABLE]++;
	assert_int_equal(sample_exit_status(&stats, &why), 1);
	assert_string_equal(why.data, "partial: 11 of 1,000 samples failed");
	stats.failed[FAILURE_EXITED] = 1000;
	assert_int_equal(sample_exit_status(&stats, &why), 2);
	stats.failed[FAILURE_EXITED] = 0;
	stats.failed[FAILURE_UNREADABLE] = 0;
	stats.chains[CHAIN_OUTERMOST] = 99;
	stats.chains[CHAIN_BAD_MEMORY] = 1;
	assert_int_equal(sample_exit_status(&stats, &why), 0);
	stats.chains[CHAIN_DEPTH] = 1;
	strbuf_clear(&why);
	assert_int_equal(sample_exit_status(&stats, &why), 1);
	assert_string_equal(why.data, "partial: 4 of 1,000 samples failed, 2 of 101 stacks are not "
				      "whole");
	/* Threads are judged by themselves, however many tasks there are, and so are those. */
	stats = (struct run_stats){ .thread_samples = 101000, .green_samples = 100000 };
	stats.failed[FAILURE_TASK_FINISHED] = 90000;
	stats.failed[FAILURE_TASK_MOVED] = stats.green_failures = 1000;
	stats.failed[FAILURE_DENIED] = 10;
	strbuf_clear(&why);
	assert_int_equal(sample_exit_status(&stats, &why), 0);
	stats.failed[FAILURE_DENIED]++;
	assert_int_equal(sample_exit_status(&stats, &why), 1);
	assert_string_equal(why.data, "partial: 11 of 1,000 samples failed, 1,000 of 100,000 "
				      "samples of tasks failed");
	strbuf_release(&why);
}

static void
test_what_is_said(void **state)
{
	struct status_line progress = { .duration_ns = 30 * NS_PER_SEC };
	struct strbuf line;

	(void)state;
	assert_string_equal(say_duration(500 * NS_PER_MS).text, "500 ms");
	assert_string_equal(say_duration(1500 * NS_PER_MS).text, "1.5 s");
	assert_string_equal(say_duration(30 * NS_PER_SEC).text, "30 s");
	assert_string_equal(say_duration(3600 * NS_PER_SEC).text, "3600 s");

	strbuf_init(&line);
	status_line_text(&progress, 12300 * NS_PER_MS, 1230, 17, 79, &line);
	assert_string_equal(line.data, "wallsample: 12.3 s of 30 s, 1,230 samples of 17 threads "
				       "(Ctrl-C ends)");
	strbuf_clear(&line);
	status_line_text(&progress, 12300 * NS_PER_MS, 1230, 17, 60, &line);
	assert_string_equal(line.data, "wallsample: 12.3 s of 30 s, 1,230 samples of 17 threads");
	strbuf_clear(&line);
	status_line_text(&progress, 12300 * NS_PER_MS, 1230, 17, 10, &line);
	assert_string_equal(line.data, "wallsample");
	strbuf_clear(&line);
	progress.duration_ns = 0;
	status_line_text(&progress, 0, 1, 1, 79, &line);
	assert_string_equal(line.data, "wallsample: 0.0 s, 1 sample of 1 thread (Ctrl-C ends)");
	strbuf_release(&line);
}

static int
release_options(void **state)
{
	(void)state;
	options_release(&options);
	return 0;
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_pids),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_ways_to_write),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_unknown_options),
		cmocka_unit_test(test_help_comes_first),
		cmocka_unit_test(test_table_is_sound),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_output_names),
		cmocka_unit_test(test_format_choice),
		cmocka_unit_test(test_target_usage),
		cmocka_unit_test(test_exit_status),
		cmocka_unit_test(test_what_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, release_options);
}
