/* SPDX-License-Identifier: MIT */
/* main.c - the program wallsample: everything else is in the library. */
#include "wallsample/cli/command.h"

int
main(int argc, char **argv)
{
	return command_main(argc, argv);
}
