/* SPDX-License-Identifier: MIT */
/*
 * python_language.c - describes Python for reports and options (struct runtime_language).
 *
 * The table `plumbing` has the functions of CPython that only lead from one Python function to the
 * next, and that reports may omit. It was made from call chains of CPython 3.6 to 3.13, sampled
 * while callables, operators, generators, threads and callbacks were used. It does not have
 * functions that do work of their own: built-in functions and methods (builtin_sorted,
 * list_extend), operators (PyNumber_Add), imports, destructors, callbacks of extensions
 * (closure_fcn), waits for the GIL (take_gil), and functions of memory and types that an
 * instruction needs (_PyDict_LoadGlobal).
 */
#include <string.h>

#include "runtime/python/python_internal.h"
#include "wallsample/runtime/language.h"

/* Values of is_common: LOCAL functions count only in the module of an interpreter. */
#define ANYWHERE false
#define LOCAL true

/* The comment of a row has the versions of CPython that have the function. */
static const struct plumbing_function plumbing[] = {
	/* --- the loop that executes a function's code --- */
	{ "_PyEval_EvalFrame*", PLUMBING_CALL, ANYWHERE }, /* EvalFrameDefault: loop since 3.6 */
	{ "PyEval_EvalFrame*", PLUMBING_CALL, ANYWHERE },  /* EvalFrameEx: loop up to 3.5 */
	/* 3.14: one function for each instruction */
	{ "_TAIL_CALL_*", PLUMBING_CALL, ANYWHERE },
	{ "_PyEvalFrame*", PLUMBING_CALL, ANYWHERE }, /* 3.11, 3.12: add and remove a frame */
	{ "_PyEval_FrameClearAndPop", PLUMBING_CALL, ANYWHERE }, /* 3.13 */
	{ "_PyFrame_Clear*", PLUMBING_CALL, ANYWHERE },          /* 3.11 and later */
	{ "frame_dealloc", PLUMBING_CALL, LOCAL },               /* up to 3.10 */
	{ "py_trampoline_evaluator", PLUMBING_CALL, ANYWHERE },  /* 3.12 and later, with -X perf */
	{ "_Py_HandlePending", PLUMBING_CALL, ANYWHERE }, /* 3.12 and later: calls take_gil */
	{ "eval_frame_handle_pending", PLUMBING_CALL, ANYWHERE }, /* 3.9 to 3.11 */

	/* --- from the arguments of a call to the loop --- */
	{ "PyEval_EvalCode*", PLUMBING_CALL, ANYWHERE },
	{ "_PyEval_EvalCode*", PLUMBING_CALL, ANYWHERE }, /* up to 3.9 */
	{ "_PyEval_Vector", PLUMBING_CALL, ANYWHERE },    /* 3.10 and later */
	{ "_PyEval_MakeFrameVector", PLUMBING_CALL, ANYWHERE },
	{ "function_code_fastcall", PLUMBING_CALL, ANYWHERE }, /* 3.7 to 3.9 */
	{ "_PyFunction_FastCall*", PLUMBING_CALL, ANYWHERE },  /* 3.6 to 3.8 */
	{ "_PyFunction_Vectorcall", PLUMBING_CALL, ANYWHERE }, /* 3.8 and later */
	{ "_PyFunction_fastcall*", PLUMBING_CALL, ANYWHERE },
	{ "function_call", PLUMBING_CALL, LOCAL },      /* up to 3.8 */
	{ "fast_function", PLUMBING_CALL, LOCAL },      /* up to 3.6 */
	{ "call_function", PLUMBING_CALL, LOCAL },      /* up to 3.10 */
	{ "call_function_tail", PLUMBING_CALL, LOCAL }, /* up to 3.6 */
	{ "do_call", PLUMBING_CALL, LOCAL },            /* up to 3.5 */
	{ "ext_do_call", PLUMBING_CALL, LOCAL },
	{ "do_call_core", PLUMBING_CALL, LOCAL },        /* 3.6 and later */
	{ "trace_call_function", PLUMBING_CALL, LOCAL }, /* 3.9 and later */

	/* --- calls of any object --- */
	{ "PyObject_Call*", PLUMBING_CALL, ANYWHERE },
	{ "_PyObject_Call*", PLUMBING_CALL, ANYWHERE },
	{ "PyObject_Vectorcall*", PLUMBING_CALL, ANYWHERE },  /* 3.9 and later */
	{ "_PyObject_Vectorcall*", PLUMBING_CALL, ANYWHERE }, /* 3.8 and later */
	{ "_PyObject_FastCall*", PLUMBING_CALL, ANYWHERE },   /* 3.6 and later */
	{ "_PyObject_MakeTpCall", PLUMBING_CALL, ANYWHERE },  /* 3.8 and later */
	{ "PyVectorcall_Call", PLUMBING_CALL, ANYWHERE },
	{ "_PyVectorcall_Call", PLUMBING_CALL, ANYWHERE },
	{ "PyEval_Call*", PLUMBING_CALL, ANYWHERE }, /* up to 3.12 */
	{ "_Py_CheckFunctionResult", PLUMBING_CALL, ANYWHERE },
	{ "object_vacall", PLUMBING_CALL, LOCAL },
	{ "callmethod", PLUMBING_CALL, LOCAL },
	{ "type_call", PLUMBING_CALL, LOCAL },   /* calls slot_tp_init */
	{ "method_call", PLUMBING_CALL, LOCAL }, /* up to 3.8 */
	{ "instancemethod_call", PLUMBING_CALL, LOCAL },

	/* --- calls of C functions, which are not in this table themselves --- */
	{ "method_vectorcall*", PLUMBING_CALL, LOCAL },    /* 3.8 and later */
	{ "cfunction_vectorcall*", PLUMBING_CALL, LOCAL }, /* 3.8 and later */
	{ "cfunction_call*", PLUMBING_CALL, LOCAL },
	{ "_PyCFunction_FastCall*", PLUMBING_CALL, ANYWHERE }, /* 3.6, 3.7 */
	{ "PyCFunction_Call", PLUMBING_CALL, ANYWHERE },
	{ "_PyMethodDef_RawFastCall*", PLUMBING_CALL, ANYWHERE }, /* 3.7 */
	{ "_PyMethodDescr_*", PLUMBING_CALL, ANYWHERE },
	{ "methoddescr_call", PLUMBING_CALL, LOCAL },
	{ "classmethoddescr_call", PLUMBING_CALL, LOCAL },
	{ "wrapper_call", PLUMBING_CALL, LOCAL },
	{ "wrapperdescr_call", PLUMBING_CALL, LOCAL },
	{ "wrapperdescr_raw_call", PLUMBING_CALL, LOCAL },

	/* --- from a type's slot to the method in Python --- */
	{ "slot_tp_*", PLUMBING_CALL, LOCAL },
	{ "slot_nb_*", PLUMBING_CALL, LOCAL },
	{ "slot_sq_*", PLUMBING_CALL, LOCAL },
	{ "slot_mp_*", PLUMBING_CALL, LOCAL },
	{ "slot_am_*", PLUMBING_CALL, LOCAL },
	{ "slot_bf_*", PLUMBING_CALL, LOCAL },        /* 3.12 and later */
	{ "_Py_slot_tp_*", PLUMBING_CALL, ANYWHERE }, /* 3.12 and later */
	{ "call_attribute", PLUMBING_CALL, LOCAL },
	{ "call_method", PLUMBING_CALL, LOCAL }, /* up to 3.8 */
	{ "call_maybe", PLUMBING_CALL, LOCAL },
	{ "call_unbound*", PLUMBING_CALL, LOCAL },
	{ "vectorcall_method", PLUMBING_CALL, LOCAL }, /* 3.9 and later */
	{ "vectorcall_maybe", PLUMBING_CALL, LOCAL },
	{ "vectorcall_unbound", PLUMBING_CALL, LOCAL },

	/* --- generators and coroutines --- */
	{ "gen_send_ex*", PLUMBING_CALL, LOCAL },
	{ "gen_send", PLUMBING_CALL, LOCAL },
	{ "gen_iternext", PLUMBING_CALL, LOCAL },
	{ "gen_throw", PLUMBING_CALL, LOCAL },
	{ "_gen_throw", PLUMBING_CALL, LOCAL },
	{ "_PyGen_Send", PLUMBING_CALL, ANYWHERE },
	{ "_PyGen_yf", PLUMBING_CALL, ANYWHERE },
	{ "PyGen_am_send", PLUMBING_CALL, ANYWHERE }, /* 3.10 and later */
	{ "PyIter_Send", PLUMBING_CALL, ANYWHERE },   /* 3.10 and later */
	{ "coro_wrapper_*", PLUMBING_CALL, LOCAL },
	{ "async_gen_asend_*", PLUMBING_CALL, LOCAL },
	{ "async_gen_athrow_*", PLUMBING_CALL, LOCAL },

	/* --- source text and files that are run --- */
	{ "PyRun_*", PLUMBING_CALL, ANYWHERE },
	{ "_PyRun_*", PLUMBING_CALL, ANYWHERE },
	{ "pyrun_*", PLUMBING_CALL, LOCAL },
	{ "run_file", PLUMBING_CALL, LOCAL }, /* 3.6 */
	{ "run_mod", PLUMBING_CALL, LOCAL },
	{ "run_eval_code_obj", PLUMBING_CALL, LOCAL }, /* 3.8 and later */
	{ "run_pyc_file", PLUMBING_CALL, LOCAL },

	/* --- the outermost functions of the program and of its threads --- */
	{ "Py_Main", PLUMBING_ROOT, ANYWHERE },
	{ "Py_BytesMain", PLUMBING_ROOT, ANYWHERE },     /* 3.8 and later */
	{ "_Py_UnixMain", PLUMBING_ROOT, ANYWHERE },     /* 3.7 */
	{ "Py_RunMain", PLUMBING_ROOT, ANYWHERE },       /* 3.8 and later */
	{ "pymain_*", PLUMBING_ROOT, ANYWHERE },         /* 3.7 and later */
	{ "pythread_wrapper", PLUMBING_ROOT, ANYWHERE }, /* 3.6 and later */
	{ "t_bootstrap", PLUMBING_ROOT, LOCAL },         /* up to 3.10 */
	{ "thread_run", PLUMBING_ROOT, LOCAL },          /* 3.11 and later */

	/* --- the outermost functions of a greenlet: greenlet 1.0 and later, and before --- */
	{ "greenlet::UserGreenlet::inner_bootstrap*", PLUMBING_CALL, ANYWHERE },
	{ "g_initialstub", PLUMBING_CALL, ANYWHERE },
};

/* Returns true for the name of a trampoline, such as "py::leaf:/srv/app.py": CPython 3.12 and later
 * generates one for each Python function, for perf (-X perf). It calls the bytecode loop. */
static bool
is_trampoline(const char *name)
{
	return strncmp(name, "py::", strlen("py::")) == 0 &&
	       (strstr(name, ":/") != NULL || strstr(name, ":<") != NULL);
}

static const char *const lock_functions[] = { "take_gil", NULL };

/* Functions of CPython and the C library between a Python function and a system call that waits. */
/* clang-format off */
static const char *const wait_functions[] = {
	"PyThread_*", "acquire_timed*", "lock_PyThread_*", "rlock_acquire*", "take_gil*",
	"drop_gil*", "PyCOND_*", "PyMUTEX_*", "PyEval_RestoreThread*", "PyEval_SaveThread*",
	"PyEval_AcquireThread*", "_PyThreadState_Attach*", "PyGILState_Ensure*", "_PyMutex_*",
	"_PyRWMutex_*", "_PySemaphore_*", "_PyParkingLot_*", NULL,
};
/* clang-format on */

static const char *const common_files[] = { "__init__.py", "__main__.py", NULL };

/* The standard library: "/usr/lib/python3.11/socket.py", "<frozen importlib._bootstrap>". */
static const char *const library_files[] = { "/lib/python3", "<frozen ", NULL };
/* Installed packages. */
static const char *const package_files[] = { "/site-packages/", "/dist-packages/", NULL };

/* The code of the file "/usr/bin/gunicorn" only calls the package gunicorn. */
static bool
is_launcher(const char *function, const char *file)
{
	return strcmp(function, "<module>") == 0 && strstr(file, "/bin/") != NULL;
}

const struct runtime_language language_python = {
	.name = "python",
	.title = "Python",
	.engine = "CPython",
	.lock = "GIL",
	.marker = "[python: ",
	.common_files = common_files,
	.library_files = library_files,
	.package_files = package_files,
	.is_launcher = is_launcher,
	.plumbing = plumbing,
	.plumbing_count = ARRAY_SIZE(plumbing),
	.is_trampoline = is_trampoline,
	.lock_functions = lock_functions,
	.wait_functions = wait_functions,
	.kind = &runtime_python,
};
