/* SPDX-License-Identifier: MIT */
/* command.c - from the words of the call to the command that runs. */
#include "wallsample/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "config.h"

/*
 * A program may be started with standard streams closed. What is opened next
 * would get their numbers and a report would be written there.
 */
static void
fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", O_RDONLY);
}

static int
end_stdout(void)
{
	struct error err;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	error_set(&err, ERROR_OUTPUT, "cannot write to stdout: %s", strerror(errno));
	say_error(&err);
	return error_exit_status(err.kind);
}

int
command_main(int argc, char **argv)
{
	struct options options;
	struct error err;
	int status;

	fill_standard_streams();
	if (options_parse(argc, argv, &options, &err) != 0) {
		say_error(&err);
		return error_exit_status(err.kind);
	}
	if (options.help) {
		help_print(stdout);
		status = end_stdout();
	} else if (options.version) {
		puts("wallsample " PACKAGE_VERSION);
		status = end_stdout();
	} else {
		status = command_sample(&options);
	}
	options_release(&options);
	return status;
}
