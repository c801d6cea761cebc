/* SPDX-License-Identifier: MIT */
/*
 * make_dwp.c - puts .dwo files into a package, where dwp and llvm-dwp cannot.
 *
 *     make_dwp PACKAGE DWO...
 */
#include <stdio.h>

#include "../unit/scene/made_package.h"

int
main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: make_dwp PACKAGE DWO...\n", stderr);
		return 64;
	}
	if (made_package_write(argv[1], (const char *const *)argv + 2, (size_t)argc - 2))
		return 0;
	fprintf(stderr, "%s cannot be made\n", argv[1]);
	return 1;
}
