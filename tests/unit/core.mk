# Unit tests of src/state, src/tracer, src/wait, src/unwind and src/runtime.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_chain tests/unit/test_rule tests/unit/test_state \
	tests/unit/test_tracer_parts tests/unit/test_unwind tests/unit/test_unwind_damage
TESTS += tests/unit/test_chain tests/unit/test_rule tests/unit/test_state \
	tests/unit/test_tracer_parts tests/unit/test_unwind tests/unit/test_unwind_damage
check_PROGRAMS += tests/unit/test_jit tests/unit/test_jitdump tests/unit/test_v8
TESTS += tests/unit/test_jit tests/unit/test_jitdump tests/unit/test_v8
check_PROGRAMS += tests/unit/test_descriptor_text tests/unit/test_interpreter tests/unit/test_rings \
	tests/unit/test_wait tests/unit/test_wait_calls
TESTS += tests/unit/test_descriptor_text tests/unit/test_interpreter tests/unit/test_rings \
	tests/unit/test_wait tests/unit/test_wait_calls
check_PROGRAMS += tests/unit/test_pages tests/unit/test_python_merge
TESTS += tests/unit/test_pages tests/unit/test_python_merge
if ARCH_X86_64
check_PROGRAMS += tests/unit/test_epilogue tests/unit/test_repair_x86_64
TESTS += tests/unit/test_epilogue tests/unit/test_repair_x86_64
endif
endif
tests_unit_test_descriptor_text_SOURCES = tests/unit/test_descriptor_text.c
tests_unit_test_descriptor_text_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_descriptor_text_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_rings_SOURCES = tests/unit/test_rings.c
tests_unit_test_rings_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_rings_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_chain_SOURCES = tests/unit/test_chain.c
tests_unit_test_chain_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_chain_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_rule_SOURCES = tests/unit/test_rule.c
tests_unit_test_rule_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_rule_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_state_SOURCES = tests/unit/test_state.c tests/unit/sleeping_child.c \
	tests/unit/sleeping_child.h
tests_unit_test_state_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_state_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_tracer_parts_SOURCES = tests/unit/test_tracer_parts.c \
	tests/unit/sleeping_child.c tests/unit/sleeping_child.h
tests_unit_test_tracer_parts_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_tracer_parts_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_unwind_SOURCES = tests/unit/test_unwind.c tests/unit/sleeping_child.c \
	tests/unit/sleeping_child.h tests/unit/unwind_scene.c tests/unit/unwind_scene.h
tests_unit_test_unwind_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_unwind_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_unwind_damage_SOURCES = tests/unit/test_unwind_damage.c tests/unit/sleeping_child.c \
	tests/unit/sleeping_child.h tests/unit/unwind_scene.c tests/unit/unwind_scene.h
tests_unit_test_unwind_damage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_unwind_damage_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_repair_x86_64_SOURCES = tests/unit/test_repair_x86_64.c
tests_unit_test_repair_x86_64_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_repair_x86_64_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_jit_SOURCES = tests/unit/test_jit.c tests/unit/jit_scene.c tests/unit/jit_scene.h
tests_unit_test_jit_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_jit_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_jitdump_SOURCES = tests/unit/test_jitdump.c tests/unit/jit_scene.c \
	tests/unit/jit_scene.h
tests_unit_test_jitdump_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_jitdump_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_v8_SOURCES = tests/unit/test_v8.c tests/unit/jit_scene.c tests/unit/jit_scene.h
tests_unit_test_v8_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_v8_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_interpreter_SOURCES = tests/unit/test_interpreter.c
tests_unit_test_interpreter_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_interpreter_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_epilogue_SOURCES = tests/unit/test_epilogue.c tests/unit/sleeping_child.c \
	tests/unit/sleeping_child.h
tests_unit_test_epilogue_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_epilogue_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_wait_calls_SOURCES = tests/unit/test_wait_calls.c tests/unit/wait_scene.c \
	tests/unit/wait_scene.h
tests_unit_test_wait_calls_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_wait_calls_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_wait_SOURCES = tests/unit/test_wait.c tests/unit/wait_scene.c tests/unit/wait_scene.h
tests_unit_test_wait_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_wait_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_pages_SOURCES = tests/unit/test_pages.c
tests_unit_test_pages_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_pages_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_python_merge_SOURCES = tests/unit/test_python_merge.c tests/unit/python_array.c \
	tests/unit/python_array.h
tests_unit_test_python_merge_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_python_merge_LDADD = $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
