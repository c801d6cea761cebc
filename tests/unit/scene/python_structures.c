/* SPDX-License-Identifier: MIT */
/* python_structures.c - structures with the names and members, but not the layout, of CPython's. */
#include "python_structures.h"

typedef struct _object {
	struct _object *_ob_next, *_ob_prev; /* present in a build with traced references */
	union {
		long ob_refcnt;
		struct {
			int low, high;
		};
	};
	struct {
		int flags;
		struct _typeobject *ob_type; /* a member of an anonymous structure */
	};
} PyObject;

typedef struct {
	PyObject ob_base;
	long ob_size;
} PyVarObject;

typedef struct _typeobject {
	PyVarObject ob_base;
	const char *tp_name;
} PyTypeObject;

typedef struct {
	PyVarObject ob_base;
	long ob_shash;
	char ob_sval[1];
} PyBytesObject;

typedef struct {
	PyObject ob_base;
	long length, hash;
	struct {
		unsigned interned : 2;
		unsigned kind : 3;
	} state;
} PyASCIIObject;

typedef struct {
	PyASCIIObject _base;
	long utf8_length;
	char *utf8;
} PyCompactUnicodeObject;

struct PyCodeObject {
	PyVarObject ob_base;
	int co_firstlineno;
	PyObject *co_name, *co_filename, *co_qualname, *co_linetable, *co_tlbc;
	char co_code_adaptive[1];
};
typedef const struct PyCodeObject hidden_code;
typedef hidden_code PyCodeObject;

typedef struct _PyInterpreterFrame {
	struct PyCodeObject *f_code, *f_executable;
	struct _PyInterpreterFrame *previous;
	void *prev_instr, *instr_ptr;
	int tlbc_index;
	char is_entry, owner;
} _PyInterpreterFrame;

typedef struct _cframe {
	_PyInterpreterFrame *current_frame;
	struct _cframe *previous;
} _PyCFrame;

struct _gil_runtime_state {
	long interval;
	int enabled, locked;
	struct _ts *last_holder;
	char rest[100];
};

struct _ts {
	int state, _status;
	struct _ts *next, *prev;
	struct _is *interp;
	_PyCFrame *cframe;
	_PyInterpreterFrame *current_frame;
	unsigned long native_thread_id, thread_id;
};

struct _is {
	struct {
		struct _gil_runtime_state *gil;
	} ceval;
	struct _is *next;
	long id;
	struct {
		long next_unique_id;
		struct _ts *head;
	} threads;
};

typedef struct pyruntimestate {
	struct {
		void *mutex;
		struct _is *head;
	} interpreters;
	struct _ts *_finalizing;
	struct {
		int signals_pending;
		struct _gil_runtime_state gil;
	} ceval;
} _PyRuntimeState;

/* The compiler writes DWARF only for types that are used. */
_PyRuntimeState python_structures_runtime;
PyTypeObject python_structures_type;
PyBytesObject python_structures_bytes;
PyCompactUnicodeObject python_structures_text;
hidden_code python_structures_code;

static void
fill_common(struct python_layout *l)
{
	python_layout_clear(l);
	l->runtime_interpreters = offsetof(_PyRuntimeState, interpreters.head);
	l->interpreter_id = offsetof(struct _is, id);
	l->interpreter_next = offsetof(struct _is, next);
	l->interpreter_threads = offsetof(struct _is, threads.head);
	l->thread_previous = offsetof(struct _ts, prev);
	l->thread_next = offsetof(struct _ts, next);
	l->thread_interpreter = offsetof(struct _ts, interp);
	l->thread_pthread = offsetof(struct _ts, thread_id);
	l->thread_native = offsetof(struct _ts, native_thread_id);
	l->frame_previous = offsetof(_PyInterpreterFrame, previous);
	l->frame_owner = offsetof(_PyInterpreterFrame, owner);
	l->code_filename = offsetof(PyCodeObject, co_filename);
	l->code_name = offsetof(PyCodeObject, co_name);
	l->code_qualified_name = offsetof(PyCodeObject, co_qualname);
	l->code_line_table = offsetof(PyCodeObject, co_linetable);
	l->code_first_line = offsetof(PyCodeObject, co_firstlineno);
	l->code_instructions = offsetof(PyCodeObject, co_code_adaptive);
	l->gil_holder = offsetof(struct _gil_runtime_state, last_holder);
	l->gil_locked = offsetof(struct _gil_runtime_state, locked);
	l->gil_size = sizeof(struct _gil_runtime_state);
	l->text_length = offsetof(PyASCIIObject, length);
	l->text_state = offsetof(PyASCIIObject, state);
	l->text_ascii = sizeof(PyASCIIObject);
	l->text_compact = sizeof(PyCompactUnicodeObject);
	l->bytes_size = offsetof(PyBytesObject, ob_base.ob_size);
	l->bytes_data = offsetof(PyBytesObject, ob_sval);
	l->object_type = offsetof(PyObject, ob_type);
	l->type_name = offsetof(PyTypeObject, tp_name);
}

void
python_structures_old(struct python_layout *l)
{
	fill_common(l);
	l->version = PYTHON_VERSION(3, 11);
	l->runtime_gil = offsetof(_PyRuntimeState, ceval.gil);
	l->thread_frame = offsetof(struct _ts, cframe);
	l->cframe_frame = offsetof(_PyCFrame, current_frame);
	l->cframe_previous = offsetof(_PyCFrame, previous);
	l->frame_code = offsetof(_PyInterpreterFrame, f_code);
	l->frame_instruction = offsetof(_PyInterpreterFrame, prev_instr);
	python_layout_finish(l);
}

void
python_structures_new(struct python_layout *l)
{
	fill_common(l);
	l->version = PYTHON_VERSION(3, 14);
	l->free_threaded = true;
	l->interpreter_gil = offsetof(struct _is, ceval.gil);
	l->thread_frame = offsetof(struct _ts, current_frame);
	l->thread_state = offsetof(struct _ts, state);
	l->frame_code = offsetof(_PyInterpreterFrame, f_executable);
	l->frame_instruction = offsetof(_PyInterpreterFrame, instr_ptr);
	l->frame_bytecode_index = offsetof(_PyInterpreterFrame, tlbc_index);
	l->code_bytecodes = offsetof(PyCodeObject, co_tlbc);
	l->gil_enabled = offsetof(struct _gil_runtime_state, enabled);
	python_layout_finish(l);
}
