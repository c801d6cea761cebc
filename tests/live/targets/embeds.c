/* SPDX-License-Identifier: MIT */
/*
 * embeds.c - a C program that calls Python, from threads of its own that come and go.
 *
 * Two of them stay: one in a Python function that sleeps in known places, one that never had to do
 * with Python. Others come and go as fast as they can, each calls a function and ends.
 * Prints "PID TID NAME NAME …" of the first, then "ready".
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const program =
	"import os\n"
	"reading, writing = os.pipe()\n"
	"def inner():\n"
	"    os.read(reading, 1)\n"
	"def outer():\n"
	"    inner()\n"
	"def brief():\n"
	"    return sum(range(100))\n";

static volatile int over;

static void
call(const char *name)
{
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *module = PyImport_AddModule("__main__");
	PyObject *result = PyObject_CallMethod(module, name, NULL);

	Py_XDECREF(result);
	PyGILState_Release(state);
}

static void *
stays(void *arg)
{
	(void)arg;
	printf("%d %ld inner outer\n", (int)getpid(), (long)syscall(SYS_gettid));
	call("outer");
	return NULL;
}

static void *
calls(void *arg)
{
	call("brief");
	return arg;
}

static void *
comes_and_goes(void *arg)
{
	while (!over) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, calls, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return arg;
}

int
main(void)
{
	pthread_t thread;
	char byte;

	Py_Initialize();
	PyRun_SimpleString(program);
	PyEval_SaveThread();
	pthread_create(&thread, NULL, stays, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, comes_and_goes, NULL);
	usleep(200000);
	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
