# Unit tests, with cmocka: one program, tests/unit/DIR/test_NAME.c, for the module of src/DIR. Its
# line in this list is all that a new one takes. What several share is in tests/unit/scene/.
unit_tests = \
	tests/unit/analysis/test_diff \
	tests/unit/analysis/test_finding \
	tests/unit/analysis/test_code_places \
	tests/unit/analysis/test_pools \
	tests/unit/analysis/test_process_choice \
	tests/unit/analysis/test_tree \
	tests/unit/analysis/test_view \
	tests/unit/analysis/test_view_names \
	tests/unit/analysis/test_view_script \
	tests/unit/analysis/test_waiting \
	tests/unit/base/test_base \
	tests/unit/base/test_bytes \
	tests/unit/base/test_file_proxy \
	tests/unit/base/test_histogram \
	tests/unit/base/test_search \
	tests/unit/base/test_table \
	tests/unit/causal/test_bursts \
	tests/unit/causal/test_causal_curve \
	tests/unit/causal/test_in_progress \
	tests/unit/causal/test_progress_values \
	tests/unit/causal/test_progress_words \
	tests/unit/cli/test_ascii \
	tests/unit/cli/test_options \
	tests/unit/cli/test_signals \
	tests/unit/dwarf/test_debug_file \
	tests/unit/dwarf/test_debug_package \
	tests/unit/dwarf/test_debug_split \
	tests/unit/dwarf/test_debuginfod \
	tests/unit/dwarf/test_distribution \
	tests/unit/dwarf/test_dwarf_hostile \
	tests/unit/dwarf/test_dwarf_lines \
	tests/unit/elf/test_code_bytes \
	tests/unit/elf/test_code_ranges \
	tests/unit/elf/test_frame_table \
	tests/unit/elf/test_image \
	tests/unit/elf/test_pclntab \
	tests/unit/format/test_pprof \
	tests/unit/format/test_svg \
	tests/unit/jit/test_jit \
	tests/unit/jit/test_jit_advice \
	tests/unit/jit/test_jit_elf \
	tests/unit/jit/test_jit_tree \
	tests/unit/jit/test_jit_objects \
	tests/unit/jit/test_jit_unwind \
	tests/unit/jit/test_jitdump \
	tests/unit/jit/test_v8 \
	tests/unit/process/test_attach \
	tests/unit/process/test_c_library \
	tests/unit/process/test_kernel_counters \
	tests/unit/process/test_programs \
	tests/unit/process/test_cpus \
	tests/unit/process/test_launch \
	tests/unit/process/test_maps \
	tests/unit/process/test_module \
	tests/unit/process/test_process \
	tests/unit/process/test_process_groups \
	tests/unit/process/test_process_set \
	tests/unit/process/test_process_set_load \
	tests/unit/process/test_process_set_parts \
	tests/unit/process/test_pid_namespace \
	tests/unit/process/test_shared_memory \
	tests/unit/process/test_shared_text \
	tests/unit/profile/test_profile \
	tests/unit/profile/test_profile_mark \
	tests/unit/profile/test_profile_parallelism \
	tests/unit/profile/test_run_stats \
	tests/unit/recording/test_joint \
	tests/unit/recording/test_power_cut \
	tests/unit/recording/test_reader_file \
	tests/unit/recording/test_recording \
	tests/unit/recording/test_recording_causal \
	tests/unit/recording/test_recording_file \
	tests/unit/report/test_causal_report \
	tests/unit/report/test_display \
	tests/unit/report/test_dump_processes \
	tests/unit/report/test_export \
	tests/unit/report/test_gil_time \
	tests/unit/report/test_parallelism_split \
	tests/unit/report/test_script_formats \
	tests/unit/report/test_green_report \
	tests/unit/report/test_time_formats \
	tests/unit/report/test_timeline \
	tests/unit/runtime/test_finder \
	tests/unit/runtime/test_gil \
	tests/unit/runtime/test_go_tasks \
	tests/unit/runtime/test_julia_find \
	tests/unit/runtime/test_julia_queues \
	tests/unit/runtime/test_julia_tasks \
	tests/unit/runtime/test_pages \
	tests/unit/runtime/test_pages_bounds \
	tests/unit/runtime/test_python_code \
	tests/unit/runtime/test_python_find \
	tests/unit/runtime/test_python_layout \
	tests/unit/runtime/test_python_lines \
	tests/unit/runtime/test_python_merge \
	tests/unit/runtime/test_python_module \
	tests/unit/runtime/test_python_parked \
	tests/unit/runtime/test_python_tasks \
	tests/unit/runtime/test_python_threads \
	tests/unit/sampler/test_hold \
	tests/unit/sampler/test_look \
	tests/unit/sampler/test_margins \
	tests/unit/sampler/test_observe \
	tests/unit/sampler/test_pace \
	tests/unit/sampler/test_priority \
	tests/unit/sampler/test_peer_choice \
	tests/unit/sampler/test_rings \
	tests/unit/sampler/test_waits_shared \
	tests/unit/sampler/test_weights \
	tests/unit/sampler/test_weights_borrow \
	tests/unit/sampler/test_window \
	tests/unit/symbol/test_namer \
	tests/unit/symbol/test_plt_names \
	tests/unit/symbol/test_symbol \
	tests/unit/symbol/test_symbol_damage \
	tests/unit/symbol/test_symbol_inlines \
	tests/unit/symbol/test_symbol_names \
	tests/unit/symbol/test_symbol_parts \
	tests/unit/thread/test_state \
	tests/unit/tracer/test_queued \
	tests/unit/tracer/test_target_memory \
	tests/unit/tracer/test_tracer_parts \
	tests/unit/unwind/test_cfi \
	tests/unit/unwind/test_chain \
	tests/unit/unwind/test_cycle \
	tests/unit/unwind/test_epilogue \
	tests/unit/unwind/test_interpreter \
	tests/unit/unwind/test_rule \
	tests/unit/unwind/test_unwind \
	tests/unit/unwind/test_unwind_damage \
	tests/unit/wait/test_descriptor_text \
	tests/unit/wait/test_file_lock \
	tests/unit/wait/test_holders \
	tests/unit/wait/test_wait \
	tests/unit/wait/test_wait_calls \
	tests/unit/wait/test_server_event tests/unit/wait/test_wait_shared
if ARCH_X86_64
unit_tests += tests/unit/core/test_core tests/unit/core/test_core_sample \
	tests/unit/tracer/test_repair_x86_64
endif
if HAVE_CMOCKA
check_LIBRARIES += tests/unit/libscene.a
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
# Programs that name no LDADD of their own are these tests, which tests/lint/libraries.sh checks.
LDADD = tests/unit/libscene.a $(WALLSAMPLE_LIBS) $(CMOCKA_LIBS)
tests_unit_libscene_a_SOURCES = \
	tests/unit/scene/actors.c \
	tests/unit/scene/actors.h \
	tests/unit/scene/causal_report_scene.c \
	tests/unit/scene/causal_report_scene.h \
	tests/unit/scene/causal_scene.c \
	tests/unit/scene/causal_scene.h \
	tests/unit/scene/debug_scene.c \
	tests/unit/scene/debug_scene.h \
	tests/unit/scene/export_scene.h \
	tests/unit/scene/golden.c \
	tests/unit/scene/golden.h \
	tests/unit/scene/jit_scene.c \
	tests/unit/scene/jit_scene.h \
	tests/unit/scene/julia_scene.c \
	tests/unit/scene/julia_scene.h \
	tests/unit/scene/made_core.c \
	tests/unit/scene/made_core.h \
	tests/unit/scene/made_elf.c \
	tests/unit/scene/made_elf.h \
	tests/unit/scene/made_go.c \
	tests/unit/scene/made_go.h \
	tests/unit/scene/made_object.c \
	tests/unit/scene/made_object.h \
	tests/unit/scene/made_package.c \
	tests/unit/scene/made_package.h \
	tests/unit/scene/own_file.c \
	tests/unit/scene/own_file.h \
	tests/unit/scene/proc_folder.c \
	tests/unit/scene/proc_folder.h \
	tests/unit/scene/rival.c \
	tests/unit/scene/rival.h \
	tests/unit/scene/python_array.c \
	tests/unit/scene/python_array.h \
	tests/unit/scene/python_offsets.c \
	tests/unit/scene/python_offsets.h \
	tests/unit/scene/python_scene.c \
	tests/unit/scene/python_scene.h \
	tests/unit/scene/python_structures.c \
	tests/unit/scene/python_structures.h \
	tests/unit/scene/recording_scene.c \
	tests/unit/scene/recording_scene.h \
	tests/unit/scene/script_scene.h \
	tests/unit/scene/sleeping_child.c \
	tests/unit/scene/sleeping_child.h \
	tests/unit/scene/unwind_scene.c \
	tests/unit/scene/unwind_scene.h \
	tests/unit/scene/wait_scene.c \
	tests/unit/scene/wait_scene.h \
	tests/unit/scene/weights_scene.c \
	tests/unit/scene/weights_scene.h
# These two read their own DWARF.
tests_unit_runtime_test_julia_find_CFLAGS = $(AM_CFLAGS) -g
tests_unit_runtime_test_python_layout_CFLAGS = $(AM_CFLAGS) -g
tests/unit/format/test_pprof.$(OBJEXT): generated/pprof.pb-c.h
tests/unit/report/test_script_formats.$(OBJEXT): generated/pprof.pb-c.h
# Scenes that answer symbols_find() in place of the library stay out of libscene.a.
script_scene = tests/unit/scene/script_scene.c
tests_unit_analysis_test_view_script_SOURCES = tests/unit/analysis/test_view_script.c $(script_scene)
tests_unit_report_test_script_formats_SOURCES = tests/unit/report/test_script_formats.c $(script_scene)
tests_unit_report_test_export_SOURCES = tests/unit/report/test_export.c \
	tests/unit/scene/export_scene.c
tests_unit_report_test_dump_processes_SOURCES = tests/unit/report/test_dump_processes.c \
	tests/unit/scene/export_scene.c

# What the scripts of pages compute, in node.
TESTS += tests/unit/web/scripts.sh
EXTRA_DIST += tests/unit/web/scripts.sh tests/unit/web/test_scripts.js
