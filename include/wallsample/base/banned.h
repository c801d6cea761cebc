/* SPDX-License-Identifier: MIT */
/*
 * banned.h - turns calls of forbidden functions into compile errors.
 *
 * The Makefile includes this header in every file of src/ (-include). The functions are forbidden
 * because they write without a bound (strcpy, strcat, sprintf, vsprintf, gets), have hidden state
 * (strtok), do not report errors (atoi, atol, atoll, atof), read a clock that can be set
 * (gettimeofday), or share memory with the child (vfork).
 */
#ifndef WALLSAMPLE_BASE_BANNED_H
#define WALLSAMPLE_BASE_BANNED_H

/* GCC refuses a declaration of a poisoned name: include all declarations before the pragmas. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok atoi atol atoll atof gettimeofday
#pragma GCC poison vfork

#endif
