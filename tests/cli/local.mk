# The command line: words, refusals, output, signals, exit status. See tests/README.
cli_tests = \
	tests/cli/completion.sh tests/cli/core.sh \
	tests/cli/diff.sh \
	tests/cli/dump.sh \
	tests/cli/filters.sh \
	tests/cli/formats.sh \
	tests/cli/html_page.sh \
	tests/cli/jit_files.sh \
	tests/cli/launching.sh \
	tests/cli/memory_limit.sh \
	tests/cli/nameless.sh \
	tests/cli/output.sh \
	tests/cli/pager.sh \
	tests/cli/pid_reuse.sh \
	tests/cli/privacy.sh \
	tests/cli/processes.sh \
	tests/cli/progress.sh \
	tests/cli/recording.sh \
	tests/cli/refusals.sh \
	tests/cli/rights.sh \
	tests/cli/same_names.sh \
	tests/cli/signals.sh \
	tests/cli/speedscope_page.sh \
	tests/cli/usage.sh \
	tests/cli/waiters.sh
TESTS += $(cli_tests)
EXTRA_DIST += $(cli_tests) tests/cli/common.sh

check_PROGRAMS += tests/cli/actor
tests_cli_actor_SOURCES = tests/cli/actor.c
tests_cli_actor_LDADD =
# Its sleeping threads are unwound without a stop, also where AM_CFLAGS asks for frame pointers.
tests_cli_actor_CFLAGS = $(AM_CFLAGS) -pthread -fomit-frame-pointer
