/* SPDX-License-Identifier: MIT */
/*
 * python_plumbing.c - names of CPython's functions between two functions in Python.
 *
 * The list was made from stacks of CPython 3.6 to 3.13, whose callables, operators, generators,
 * threads and callbacks were sampled. What stays on purpose: built-in functions and methods
 * (builtin_sorted, list_extend), operators (PyNumber_Add), imports, destructors, callbacks of
 * extensions (closure_fcn), what waits for the GIL (take_gil), and all of memory and types that an
 * instruction needs (_PyDict_LoadGlobal): they are where time goes.
 */
#include "wallsample/runtime/plumbing.h"

#include <stddef.h>
#include <string.h>

#include "wallsample/base/base.h"

/* LOCAL names are those of static functions that others have as well. */
enum reach { ANYWHERE, LOCAL };

struct row {
	const char *name; /* '*' at its end: whatever follows */
	enum plumbing plumbing;
	enum reach reach;
};

static const struct row rows[] = {
	/* --- the loop that executes a function's code --- */
	{ "_PyEval_EvalFrame*", PLUMBING_CALL, ANYWHERE },    /* 3.6 on; Default is the loop */
	{ "PyEval_EvalFrame*", PLUMBING_CALL, ANYWHERE },     /* …Ex: the loop up to 3.5 */
	{ "_TAIL_CALL_*", PLUMBING_CALL, ANYWHERE },          /* 3.14: an instruction each */
	{ "_PyEvalFrame*", PLUMBING_CALL, ANYWHERE },         /* 3.11, 3.12: push and pop */
	{ "_PyEval_FrameClearAndPop", PLUMBING_CALL, ANYWHERE }, /* 3.13 */
	{ "_PyFrame_Clear*", PLUMBING_CALL, ANYWHERE },       /* 3.11 on */
	{ "frame_dealloc", PLUMBING_CALL, LOCAL },            /* up to 3.10 */
	{ "py_trampoline_evaluator", PLUMBING_CALL, ANYWHERE }, /* 3.12 on, with -X perf */
	{ "_Py_HandlePending", PLUMBING_CALL, ANYWHERE },     /* 3.12 on: on to take_gil */
	{ "eval_frame_handle_pending", PLUMBING_CALL, ANYWHERE }, /* 3.9 to 3.11 */

	/* --- from its arguments to the loop --- */
	{ "PyEval_EvalCode*", PLUMBING_CALL, ANYWHERE },
	{ "_PyEval_EvalCode*", PLUMBING_CALL, ANYWHERE },     /* …WithName: up to 3.9 */
	{ "_PyEval_Vector", PLUMBING_CALL, ANYWHERE },        /* 3.10 on */
	{ "_PyEval_MakeFrameVector", PLUMBING_CALL, ANYWHERE },
	{ "function_code_fastcall", PLUMBING_CALL, ANYWHERE }, /* 3.7 to 3.9 */
	{ "_PyFunction_FastCall*", PLUMBING_CALL, ANYWHERE }, /* 3.6, 3.7 */
	{ "_PyFunction_Vectorcall", PLUMBING_CALL, ANYWHERE }, /* 3.8 on */
	{ "_PyFunction_fastcall*", PLUMBING_CALL, ANYWHERE },
	{ "function_call", PLUMBING_CALL, LOCAL },            /* up to 3.6 */
	{ "fast_function", PLUMBING_CALL, LOCAL },            /* up to 3.5 */
	{ "call_function", PLUMBING_CALL, LOCAL },            /* up to 3.10 */
	{ "call_function_tail", PLUMBING_CALL, LOCAL },       /* 3.6 */
	{ "do_call", PLUMBING_CALL, LOCAL },                  /* up to 3.5 */
	{ "ext_do_call", PLUMBING_CALL, LOCAL },
	{ "do_call_core", PLUMBING_CALL, LOCAL },             /* 3.6 on */
	{ "trace_call_function", PLUMBING_CALL, LOCAL },      /* 3.9 on */

	/* --- calls of any object --- */
	{ "PyObject_Call*", PLUMBING_CALL, ANYWHERE },
	{ "_PyObject_Call*", PLUMBING_CALL, ANYWHERE },
	{ "PyObject_Vectorcall*", PLUMBING_CALL, ANYWHERE },  /* 3.9 on */
	{ "_PyObject_Vectorcall*", PLUMBING_CALL, ANYWHERE }, /* 3.8 on */
	{ "_PyObject_FastCall*", PLUMBING_CALL, ANYWHERE },   /* 3.6 on */
	{ "_PyObject_MakeTpCall", PLUMBING_CALL, ANYWHERE },  /* 3.8 on */
	{ "PyVectorcall_Call", PLUMBING_CALL, ANYWHERE },
	{ "_PyVectorcall_Call", PLUMBING_CALL, ANYWHERE },
	{ "PyEval_Call*", PLUMBING_CALL, ANYWHERE },          /* up to 3.12 */
	{ "_Py_CheckFunctionResult", PLUMBING_CALL, ANYWHERE },
	{ "object_vacall", PLUMBING_CALL, LOCAL },
	{ "callmethod", PLUMBING_CALL, LOCAL },
	{ "type_call", PLUMBING_CALL, LOCAL },                /* on to slot_tp_init */
	{ "method_call", PLUMBING_CALL, LOCAL },              /* up to 3.8 */
	{ "instancemethod_call", PLUMBING_CALL, LOCAL },

	/* --- calls of C functions, which themselves stay --- */
	{ "method_vectorcall*", PLUMBING_CALL, LOCAL },       /* 3.8 on */
	{ "cfunction_vectorcall*", PLUMBING_CALL, LOCAL },    /* 3.8 on */
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
	{ "slot_bf_*", PLUMBING_CALL, LOCAL },                /* 3.12 on */
	{ "_Py_slot_tp_*", PLUMBING_CALL, ANYWHERE },         /* 3.12 on */
	{ "call_attribute", PLUMBING_CALL, LOCAL },
	{ "call_method", PLUMBING_CALL, LOCAL },              /* up to 3.8 */
	{ "call_maybe", PLUMBING_CALL, LOCAL },
	{ "call_unbound*", PLUMBING_CALL, LOCAL },
	{ "vectorcall_method", PLUMBING_CALL, LOCAL },        /* 3.9 on */
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
	{ "PyGen_am_send", PLUMBING_CALL, ANYWHERE },         /* 3.10 on */
	{ "PyIter_Send", PLUMBING_CALL, ANYWHERE },           /* 3.10 on */
	{ "coro_wrapper_*", PLUMBING_CALL, LOCAL },
	{ "async_gen_asend_*", PLUMBING_CALL, LOCAL },
	{ "async_gen_athrow_*", PLUMBING_CALL, LOCAL },

	/* --- source text and files that are run --- */
	{ "PyRun_*", PLUMBING_CALL, ANYWHERE },
	{ "_PyRun_*", PLUMBING_CALL, ANYWHERE },
	{ "pyrun_*", PLUMBING_CALL, LOCAL },
	{ "run_file", PLUMBING_CALL, LOCAL },                 /* 3.6 */
	{ "run_mod", PLUMBING_CALL, LOCAL },
	{ "run_eval_code_obj", PLUMBING_CALL, LOCAL },        /* 3.8 on */
	{ "run_pyc_file", PLUMBING_CALL, LOCAL },

	/* --- the outermost of the program and of its threads --- */
	{ "Py_Main", PLUMBING_ROOT, ANYWHERE },
	{ "Py_BytesMain", PLUMBING_ROOT, ANYWHERE },          /* 3.8 on */
	{ "_Py_UnixMain", PLUMBING_ROOT, ANYWHERE },          /* 3.7 */
	{ "Py_RunMain", PLUMBING_ROOT, ANYWHERE },            /* 3.8 on */
	{ "pymain_*", PLUMBING_ROOT, ANYWHERE },              /* 3.7 on */
	{ "pythread_wrapper", PLUMBING_ROOT, ANYWHERE },      /* 3.6 on */
	{ "t_bootstrap", PLUMBING_ROOT, LOCAL },              /* up to 3.10 */
	{ "thread_run", PLUMBING_ROOT, LOCAL },               /* 3.11 on */

	/* --- what glibc and musl have outside of them --- */
	{ "main", PLUMBING_START, ANYWHERE },
	{ "_start", PLUMBING_START, ANYWHERE },
	{ "_start_c", PLUMBING_START, ANYWHERE },
	{ "__libc_start_main*", PLUMBING_START, ANYWHERE },
	{ "__libc_start_call_main", PLUMBING_START, ANYWHERE },
	{ "generic_start_main", PLUMBING_START, ANYWHERE },
	{ "libc_start_main_stage2", PLUMBING_START, ANYWHERE },
	{ "start_thread", PLUMBING_START, ANYWHERE },
	{ "start", PLUMBING_START, ANYWHERE },
	{ "clone", PLUMBING_START, ANYWHERE },
	{ "__clone", PLUMBING_START, ANYWHERE },
	{ "clone3", PLUMBING_START, ANYWHERE },
	{ "__clone3", PLUMBING_START, ANYWHERE },
	{ "__GI___clone*", PLUMBING_START, ANYWHERE },
};

/*
 * "py::leaf:/srv/app.py": code that CPython 3.12 and later makes for perf (-X perf), one for each
 * function, around the loop that executes it.
 */
static bool
is_trampoline(const char *name)
{
	return strncmp(name, "py::", strlen("py::")) == 0 &&
	       (strstr(name, ":/") != NULL || strstr(name, ":<") != NULL);
}

enum plumbing
plumbing_of(const char *function, bool interpreter)
{
	/* "gen_send_ex.isra.0", "PyObject_Call@plt", "clone@@GLIBC_2.2.5" */
	const size_t length = strcspn(function, ".@");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		const size_t wanted = strcspn(row->name, "*");

		if (row->reach == LOCAL && !interpreter)
			continue;
		if ((row->name[wanted] == '*' ? length >= wanted : length == wanted) &&
		    memcmp(function, row->name, wanted) == 0)
			return row->plumbing;
	}
	return is_trampoline(function) ? PLUMBING_CALL : PLUMBING_NONE;
}
