/* SPDX-License-Identifier: MIT */
/*
 * test_view_script.c - functions of interpreted programs in a view: what they are called, and what
 * is shown beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scene/script_scene.h"
#include "wallsample/base/base.h"
#include "wallsample/process/module.h"
#include "wallsample/runtime/language.h"
#include "wallsample/analysis/own_code.h"
#include "wallsample/analysis/tree.h"
#include "wallsample/analysis/view.h"
#include "wallsample/analysis/waiting.h"

static const struct filter all = { 0 };

/* Adds each stack for a millisecond, and compares what a view makes of them. */
static void
check_stacks(const char *const *stack, const struct filter *filter, enum view_key key,
	     const char *expected)
{
	struct profile *profile = profile_create();
	struct view *view;
	char *folded;

	for (; *stack != NULL; stack++)
		script_scene_add(profile, *stack, 1);
	view = view_create(profile, NULL, filter, key);
	folded = script_scene_fold(view);
	assert_string_equal(folded, expected);
	free(folded);
	view_free(view);
	profile_free(profile);
}

#define CHECK(filter, key, expected, ...)                                      \
	check_stacks((const char *const[]){ __VA_ARGS__, NULL }, filter, key, expected)

static const char *const lines[] = {
	"<module>@/srv/app/app.py:9;C.leaf@/srv/app/app.py:4",
	"<module>@/srv/app/app.py:9;C.leaf@/srv/app/app.py:5",
	"<module>@/srv/app/app.py:9;C.leaf@/srv/other/app.py:4",
	"<module>@/srv/app/app.py:9;loads@/usr/lib/python3/json/__init__.py:300",
	"_find@<frozen importlib._bootstrap>:1176;<module>@<string>:1;run@:0",
	NULL,
};

static void
test_functions(void **state)
{
	(void)state;
	check_stacks(lines, &all, VIEW_BY_FUNCTION,
		     "<module> (app/app.py);C.leaf (app/app.py) 2\n"
		     "<module> (app/app.py);C.leaf (other/app.py) 1\n"
		     "<module> (app/app.py);loads (json/__init__.py) 1\n"
		     "_find (<frozen importlib._bootstrap>);<module> (<string>);run 1\n");
}

static void
test_lines(void **state)
{
	(void)state;
	check_stacks(lines, &all, VIEW_BY_LINE,
		     "<module> (app/app.py:9);C.leaf (app/app.py:4) 1\n"
		     "<module> (app/app.py:9);C.leaf (app/app.py:5) 1\n"
		     "<module> (app/app.py:9);C.leaf (other/app.py:4) 1\n"
		     "<module> (app/app.py:9);loads (json/__init__.py:300) 1\n"
		     "_find (<frozen importlib._bootstrap>:1176);<module> (<string>:1);run 1\n");
}

static void
test_modules_and_sources(void **state)
{
	(void)state;
	check_stacks(lines, &all, VIEW_BY_MODULE,
		     "app/app.py 2\napp/app.py;other/app.py 1\n"
		     "app/app.py;json/__init__.py 1\n"
		     "<frozen importlib._bootstrap>;<string>;[no source] 1\n");
	check_stacks(lines, &all, VIEW_BY_SOURCE,
		     "/srv/app/app.py 2\n/srv/app/app.py;/srv/other/app.py 1\n"
		     "/srv/app/app.py;/usr/lib/python3/json/__init__.py 1\n"
		     "<frozen importlib._bootstrap>;<string>;[no source] 1\n");
}

static void
test_short_names(void **state)
{
	(void)state;
	CHECK(&all, VIEW_BY_MODULE,
	      "__init__.py 1\npkg/__main__.py 1\n/__init__.py 1\n/x/ 1\n"
	      "<attrs generated init a/b.py> 1\n",
	      "f@__init__.py:1", "f@pkg/__main__.py:1", "f@/__init__.py:1", "f@/x/:1",
	      "f@<attrs generated init a/b.py>:1");
}

/* Checks the labels of the view's functions: those of the stacks, each once. */
static void
check_labels(const char *const *stack, size_t count, const char *expected)
{
	struct profile *profile = profile_create();
	struct strbuf labels = STRBUF_INIT;
	struct view *view;

	for (size_t i = 0; i < count; i++)
		script_scene_add(profile, stack[i], 1);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	for (uint32_t i = 0; i < view_function_count(view); i++)
		strbuf_add_format(&labels, "%s\n", view_function(view, i)->label);
	assert_string_equal(labels.data, expected);
	strbuf_release(&labels);
	view_free(view);
	profile_free(profile);
}

/* Functions of one name have the shortest end of the path that no other file has. */
static void
test_labels(void **state)
{
	static const char *const stack[] = {
		"get@/srv/shop/views.py:3", "get@/srv/blog/views.py:3",
		"get@/opt/blog/views.py:3", "get@/srv/blog/myviews.py:3",
		"post@/srv/shop/views.py:9", "get@/srv/shop/views.py:4",
	};

	(void)state;
	check_labels(stack, ARRAY_SIZE(stack),
		     "get (shop/views.py)\nget (srv/blog/views.py)\nget (opt/blog/views.py)\n"
		     "get (myviews.py)\npost\n");
	check_labels(stack, 1, "get\n");
}

/* A function is told from the frame of ours that has the same text. */
static void
test_kinds(void **state)
{
	struct profile *profile = profile_create();
	struct view *view;

	(void)state;
	script_scene_add(profile, "[waiting];x.so!main", 1);
	script_scene_add(profile, "f@/a.py:2;[waiting]@:0", 1);
	view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
	assert_int_equal(view_function_count(view), 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct view_function *function = view_function(view, i);

		assert_true(function->known);
		assert_int_equal(function->script, i >= 2);
		assert_int_equal(view_is_named(function), i == 0);
		assert_int_equal(view_is_gap(function), i == 0);
		assert_int_equal(function->module_id == MODULE_NONE, i != 1);
	}
	assert_string_equal(view_function(view, 2)->file, "/a.py");
	assert_int_equal(view_function(view, 2)->line, 2);
	assert_null(view_function(view, 3)->file);
	/* Code that waits has its state upon it; what says so itself has not. */
	assert_true(flame_has_state(view, RUN_SLEEPING, (const uint32_t[]){ 2 }, 1));
	assert_false(flame_has_state(view, RUN_SLEEPING, (const uint32_t[]){ 0 }, 1));
	view_free(view);
	profile_free(profile);
}

/* --- what the interpreter has between two functions ----------------------------------------- */

#define LOOP "python3!_PyEval_EvalFrameDefault;"
#define OUTSIDE "python3!_start;libc.so!__libc_start_main;libc.so!?;python3!main;"
#define BEGINNING OUTSIDE "python3!Py_BytesMain;python3!pymain_run_python.constprop.0;" \
	"python3!_PyRun_SimpleFileObject;python3!run_mod;python3!PyEval_EvalCode;" LOOP
#define THREAD "libc.so!clone3;libc.so!start_thread;python3!pythread_wrapper;python3!thread_run;" \
	"python3!PyObject_Call@plt;python3!method_vectorcall;" LOOP
#define CALL "python3!PyObject_Vectorcall;python3!type_call;python3!slot_tp_init;" LOOP
#define TOP "<module>@/app.py:9;"

static void
test_names(void **state)
{
	(void)state;
	assert_int_equal(language_plumbing("_PyEval_EvalFrameDefault", false), PLUMBING_CALL);
	assert_int_equal(language_plumbing("_PyEval_EvalFrameDefault.cold", false), PLUMBING_CALL);
	assert_int_equal(language_plumbing("_TAIL_CALL_BINARY_OP.llvm.12", false), PLUMBING_CALL);
	assert_int_equal(language_plumbing("PyObject_Call@plt", false), PLUMBING_CALL);
	assert_int_equal(language_plumbing("_PyEval_Vector", false), PLUMBING_CALL);
	assert_int_equal(language_plumbing("_PyEval_VectorOfMine", false), PLUMBING_NONE);
	/* other programs have such functions as well */
	assert_int_equal(language_plumbing("call_function", false), PLUMBING_NONE);
	assert_int_equal(language_plumbing("call_function", true), PLUMBING_CALL);
	assert_int_equal(language_plumbing("slot_tp_init", true), PLUMBING_CALL);
	assert_int_equal(language_plumbing("thread_run", true), PLUMBING_ROOT);
	assert_int_equal(language_plumbing("main", true), PLUMBING_START);
	assert_int_equal(language_plumbing("__libc_start_main@@GLIBC_2.34", false), PLUMBING_START);
	assert_int_equal(language_plumbing("py::leaf:/srv/app.py", false), PLUMBING_CALL);
	assert_int_equal(language_plumbing("py::<module>:<string>", false), PLUMBING_CALL);
	assert_int_equal(language_plumbing("py_trampoline_evaluator", false), PLUMBING_CALL);
	assert_int_equal(language_plumbing("py::object::~object", false), PLUMBING_NONE);
	assert_int_equal(language_plumbing("", true), PLUMBING_NONE);
	for (size_t i = 0; i < 6; i++) {
		static const char *const kept[] = { "builtin_sorted", "list_sort_impl",
						    "time_sleep", "take_gil", "mainloop",
						    "_PyDict_LoadGlobal" };

		assert_int_equal(language_plumbing(kept[i], true), PLUMBING_NONE);
	}
}

static void
test_merged(void **state)
{
	(void)state;
	CHECK(&all, VIEW_BY_FUNCTION,
	      "<module> (app.py) 1\n"
	      "<module> (app.py);C.__init__ (app.py);time_sleep (python3);"
	      "clock_nanosleep (libc.so) 1\n"
	      "<module> (app.py);builtin_sorted (python3);key (app.py) 1\n"
	      "run (threading.py);take_gil (python3) 1\n",
	      BEGINNING TOP "python3!_Py_CheckFunctionResult",
	      BEGINNING TOP CALL "C.__init__@/app.py:4;python3!cfunction_vectorcall_O;"
	      "python3!time_sleep;libc.so!clock_nanosleep",
	      BEGINNING TOP "python3!cfunction_vectorcall_FASTCALL.lto_priv.0;"
	      "python3!builtin_sorted;python3!_PyFunction_Vectorcall;" LOOP "key@/app.py:7",
	      THREAD "run@/lib/threading.py:1;python3!_Py_HandlePending;python3!take_gil");
}

/* Functions that one loop executes stand in it together; frames of ours stay where they are. */
static void
test_merged_marks(void **state)
{
	(void)state;
	CHECK(&all, VIEW_BY_FUNCTION,
	      "[waiting];[sleeping in futex];<module> (app.py);f (app.py);poll (libc.so) 1\n"
	      "[truncated];f (app.py) 1\n"
	      "[truncated];clone3 (libc.so) 1\n"
	      "[failed] 1\n",
	      "[waiting];[sleeping in futex];" BEGINNING TOP "f@/app.py:2;libc.so!poll",
	      "[truncated];python3!function_code_fastcall;" LOOP "f@/app.py:2",
	      "[truncated];libc.so!clone3",
	      "[failed]");
}

/* Before and after the program runs the interpreter's functions are all that there is. */
static void
test_without_scripts(void **state)
{
	(void)state;
	CHECK(&all, VIEW_BY_FUNCTION,
	      "_start (python3);__libc_start_main (libc.so);nameless+0x40;main (python3);"
	      "Py_BytesMain (python3);Py_FinalizeEx (python3) 1\n"
	      "<module> (app.py) 1\n"
	      "clone3 (libc.so);start_thread (libc.so);pythread_wrapper (python3);"
	      "thread_run (python3);take_gil (python3) 1\n"
	      "clone3 (libc.so);start_thread (libc.so);pool (blas.so) 1\n",
	      OUTSIDE "python3!Py_BytesMain;python3!Py_FinalizeEx", BEGINNING TOP,
	      "libc.so!clone3;libc.so!start_thread;python3!pythread_wrapper;python3!thread_run;"
	      "python3!take_gil",
	      "libc.so!clone3;libc.so!start_thread;blas.so!pool");
}

/* Whoever has an interpreter within keeps all that is its own, down to its main. */
static void
test_embedded(void **state)
{
	(void)state;
	CHECK(&all, VIEW_BY_FUNCTION,
	      "_start (server);__libc_start_main (libc.so);main (server);call_function (server);"
	      "f (app.py) 1\n"
	      "clone3 (libc.so);start_thread (libc.so);worker (server);f (app.py);main (ext.so) 1\n"
	      "nameless+0x40;handle (server);f (app.py) 1\n"
	      "_start (server);main (server);f (app.py) 1\n",
	      "server!_start;libc.so!__libc_start_main;server!main;server!call_function;"
	      "libpython3.so!PyObject_Call;libpython3.so!_PyEval_EvalFrameDefault;f@/app.py:1",
	      "libc.so!clone3;libc.so!start_thread;server!worker;"
	      "libpython3.so!PyObject_CallOneArg;libpython3.so!_PyEval_EvalFrameDefault;"
	      "f@/app.py:1;libpython3.so!call_function;ext.so!main",
	      "libc.so!?;server!handle;libpython3.so!_PyEval_EvalFrameDefault;f@/app.py:1",
	      "server!_start;server!main;libpython3.so!PyRun_SimpleStringFlags;"
	      "libpython3.so!_PyEval_EvalFrameDefault;f@/app.py:1");
}

/* Of the interpreter's module all that has no name goes, of others nothing. */
static void
test_stripped(void **state)
{
	(void)state;
	CHECK(&all, VIEW_BY_FUNCTION,
	      "<module> (app.py);f (app.py);nameless+0x40;leaf (app.py);nameless+0x40 1\n"
	      "run (threading.py) 1\n"
	      "nameless+0x40 1\n",
	      "python3!?;libc.so!__libc_start_main;python3!?;python3!Py_BytesMain;python3!?;" TOP
	      "python3!?;python3!?;f@/app.py:1;python3!?;ext.so!?;python3!?;leaf@/app.py:1;"
	      "libc.so!?",
	      "libc.so!?;libc.so!?;python3!?;python3!?;run@/lib/threading.py:1;python3!?",
	      "python3!?");
}

/* What is inlined into plumbing goes with it, and inlined plumbing leaves the rest. */
static void
test_inlined(void **state)
{
	(void)state;
	CHECK(&all, VIEW_BY_FUNCTION,
	      "<module> (app.py) 1\n"
	      "<module> (app.py);builtin_sum (python3);builtin_sum_impl (python3);"
	      "PyIter_Next (python3);f (app.py) 1\n",
	      BEGINNING TOP "python3!Py_DECREF<_PyEval_EvalFrameDefault",
	      BEGINNING TOP "python3!gen_iternext<PyIter_Next<_PyObject_VectorcallTstate<"
	      "builtin_sum_impl<builtin_sum;" LOOP "f@/app.py:3");
}

#define EXAMPLES BEGINNING TOP CALL "f@/app.py:4;ext.so!compute", "[failed]",                      \
	"[waiting];libc.so!clone3;libc.so!poll", "libc.so!clone3;blas.so!pool"

static void
test_choices(void **state)
{
	struct filter filter = { .native = NATIVE_NONE };
	regex_t regex;

	(void)state;
	CHECK(&filter, VIEW_BY_FUNCTION,
	      "<module> (app.py);f (app.py) 1\n[failed] 1\n[waiting];[native] 1\n[native] 1\n",
	      EXAMPLES);
	CHECK(&filter, VIEW_BY_LINE,
	      "<module> (app.py:9);f (app.py:4) 1\n[failed] 1\n[waiting];[native] 1\n[native] 1\n",
	      EXAMPLES);
	CHECK(&filter, VIEW_BY_MODULE,
	      "app.py 1\n[failed] 1\n[waiting];[native] 1\n[native] 1\n", EXAMPLES);
	filter.native = NATIVE_ONLY;
	CHECK(&filter, VIEW_BY_MODULE,
	      "python3;libc.so;python3;ext.so 1\n[failed] 1\n[waiting];libc.so 1\n"
	      "libc.so;blas.so 1\n", EXAMPLES);
	CHECK(&filter, VIEW_BY_FUNCTION, "main (x.so);call (x.so) 1\n",
	      "[python: not matched with native frames];f@/a.py:1;x.so!main;x.so!call");
	filter = (struct filter){ .interpreter_frames = true };
	CHECK(&filter, VIEW_BY_MODULE,
	      "python3;libc.so;python3;app.py;python3;app.py;ext.so 1\n[failed] 1\n"
	      "[waiting];libc.so 1\nlibc.so;blas.so 1\n", EXAMPLES);

	/* Expressions are for what is shown. */
	assert_int_equal(regcomp(&regex, "^(f|.native.|PyObject_.*)$",
				 REG_EXTENDED | REG_NOSUB), 0);
	filter = (struct filter){ .include = &regex };
	CHECK(&filter, VIEW_BY_MODULE, "app.py;ext.so 1\n", EXAMPLES);
	filter = (struct filter){ .exclude = &regex };
	CHECK(&filter, VIEW_BY_MODULE, "app.py 1\n", BEGINNING TOP "python3!PyObject_Call");
	filter = (struct filter){ .exclude = &regex, .interpreter_frames = true };
	CHECK(&filter, VIEW_BY_MODULE, "", BEGINNING TOP "python3!PyObject_Call");
	filter = (struct filter){ .exclude = &regex, .native = NATIVE_NONE };
	CHECK(&filter, VIEW_BY_MODULE, "[failed] 1\n", EXAMPLES);
	regfree(&regex);
}

/* By address each line is a frame of its own, and what is made up has none of the profile. */
static void
test_addresses(void **state)
{
	const struct filter filter = { .native = NATIVE_NONE };
	struct profile *profile = profile_create();
	struct view *view;

	(void)state;
	script_scene_add(profile, "python3!main", 1);
	script_scene_add(profile, LOOP "f@/a.py:2", 1);
	script_scene_add(profile, LOOP "f@/a.py:3", 1);
	script_scene_add(profile, CALL "f@/a.py:3", 1);
	view = view_create(profile, NULL, &filter, VIEW_BY_ADDRESS);
	assert_int_equal(view_row_count(view), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct view_row *row = view_row(view, i);
		const struct view_function *function = view_function(view, row->function[0]);

		assert_int_equal(row->depth, 1);
		assert_int_equal(row->samples, i == 2 ? 2 : 1);
		assert_int_equal(function->line, i == 0 ? 0 : i + 1);
		assert_int_equal(function->frame == FRAME_NONE, i == 0);
		assert_int_equal(view_is_named(function), i == 0);
	}
	view_free(view);
	profile_free(profile);
}

/* Who waits for a lock of the interpreter's waits in a function of the program. */
static void
test_waiting_place(void **state)
{
	static const struct {
		const char *stack, *place;
	} at[] = {
		{ "main@/a.py:1;get@/lib/queue.py:2;python3!lock_PyThread_acquire_lock;"
		  "python3!PyThread_acquire_lock_timed;libc.so!__futex_wait", "get" },
		{ "main@/a.py:1;python3!time_sleep;python3!PyEval_RestoreThread;python3!take_gil;"
		  "python3!PyCOND_TIMEDWAIT;libc.so!pthread_cond_timedwait", "time_sleep" },
		{ "main@/a.py:1;f@/a.py:2;python3!take_gil;libc.so!pthread_cond_wait", "f" },
		{ "main@/a.py:1;__enter__@/a.py:2;python3!rlock_acquire;libc.so!sem_wait",
		  "__enter__" },
		{ "main@/a.py:1;ext.so!compute;libc.so!pthread_mutex_lock", "compute" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		struct profile *profile = profile_create();
		struct view *view;
		const struct view_row *row;

		script_scene_add(profile, at[i].stack, 1);
		view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
		row = view_row(view, 0);
		assert_string_equal(
			view_function(view,
				      row->function[waiting_place(view, row->function, row->depth)])
				->name,
			at[i].place);
		view_free(view);
		profile_free(profile);
	}
}

/* What a wait is does not hang on which of the functions that wait are shown, nor as what. */
static void
test_wait_kinds(void **state)
{
	static const enum view_key keys[] = {
		VIEW_BY_FUNCTION, VIEW_BY_LINE, VIEW_BY_MODULE, VIEW_BY_SOURCE, VIEW_BY_STATE,
	};
	static const enum view_native natives[] = { NATIVE_MERGED, NATIVE_ONLY, NATIVE_NONE };
	struct profile *profile = profile_create();
	struct profile_wait wait = {
		.kind = WAIT_FUTEX,
		.object = profile_intern_named(profile, "0x1000"),
	};
	const uint32_t semaphore = profile_add_wait(profile, &wait);
	uint32_t unknown;

	(void)state;
	wait.object = FRAME_NONE;
	unknown = profile_add_wait(profile, &wait);
	script_scene_add_wait(profile, "main@/a.py:1;get@/q.py:2;python3!PyThread_acquire_lock;"
			      "libc.so!sem_wait;libc.so!__futex_wait", 1, semaphore);
	script_scene_add_wait(profile, "main@/a.py:1;x.so!f;libc.so!sem_wait", 1, unknown);
	script_scene_add_wait(profile, "main@/a.py:1;x.so!g;libc.so!pthread_mutex_lock", 1,
			      unknown);
	for (size_t i = 0; i < ARRAY_SIZE(keys) * ARRAY_SIZE(natives); i++) {
		const struct filter filter = { .native = natives[i / ARRAY_SIZE(keys)] };
		struct view *view = view_create(profile, NULL, &filter,
						keys[i % ARRAY_SIZE(keys)]);

		assert_int_equal(view_wait_kind(view, semaphore, NULL, 0), WAIT_SEMAPHORE);
		/* Two locks: only functions tell. */
		assert_int_equal(view_wait_kind(view, unknown, NULL, 0), WAIT_FUTEX);
		view_free(view);
	}
	profile_free(profile);
}

/* The place of a stack: the function of the program. A script in a directory "bin" that starts an
 * installed package is as the package; its other functions are the program's. */
static void
test_place(void **state)
{
	static const struct {
		const char *stack, *place;
	} stacks[] = {
		{ "<module>@/srv/app.py:9;run@/usr/lib/python3/dist-packages/web/run.py:1",
		  "<module>" },
		{ "<module>@/usr/bin/web:9;run@/usr/lib/python3/dist-packages/web/run.py:1",
		  "run" },
		{ "<module>@/usr/bin/web:9;f@/usr/lib/python3.11/socket.py:1", "<module>" },
		{ "<module>@/srv/bin/web:9;f@/srv/bin/web:2;run@/x/site-packages/web/run.py:1",
		  "f" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++) {
		struct profile *profile = profile_create();
		const uint32_t *function;
		struct view *view;
		struct own own;
		size_t depth;

		script_scene_add(profile, stacks[i].stack, 1);
		view = view_create(profile, NULL, &all, VIEW_BY_FUNCTION);
		own_make(view, NULL, &own);
		view_stack(view, profile_entry(profile, 0)->stack, &function, &depth);
		assert_true(depth > 0);
		assert_string_equal(
			view_function(view, function[own_place(&own, function, depth)])->name,
			stacks[i].place);
		own_release(&own);
		view_free(view);
		profile_free(profile);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_modules_and_sources),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_merged_marks),
		cmocka_unit_test(test_without_scripts),
		cmocka_unit_test(test_embedded),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_waiting_place),
		cmocka_unit_test(test_wait_kinds),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
