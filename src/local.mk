include src/base/local.mk
include src/target/local.mk
include src/state/local.mk
include src/jit/local.mk
include src/tracer/local.mk
include src/wait/local.mk
include src/unwind/local.mk
include src/symbol/local.mk
include src/runtime/local.mk
include src/profile/local.mk
include src/sampler/local.mk
include src/causal/local.mk
include src/recording/local.mk
include src/analysis/local.mk
include src/export/local.mk
include src/cli/local.mk
libwallsample_a_SOURCES += \
	include/wallsample/process/attach.h include/wallsample/base/banned.h include/wallsample/base/base.h \
	include/wallsample/causal/causal.h include/wallsample/causal/causal_curve.h \
	include/wallsample/causal/causal_run.h \
	include/wallsample/unwind/chain.h include/wallsample/causal/progress.h \
	include/wallsample/causal/progress_coz.h include/wallsample/elf/code_ranges.h \
	include/wallsample/core/core.h \
	include/wallsample/core/core_sample.h include/wallsample/core/core_thread.h \
	include/wallsample/dwarf/debug_info.h \
	include/wallsample/wait/descriptor.h include/wallsample/analysis/diff.h include/wallsample/analysis/dump.h \
	include/wallsample/elf/elf_open.h \
	include/wallsample/base/error.h include/wallsample/report/export.h include/wallsample/process/find.h \
	include/wallsample/analysis/finding.h include/wallsample/base/histogram.h \
	include/wallsample/elf/image.h \
	include/wallsample/jit/jit.h include/wallsample/jit/jit_objects.h \
	include/wallsample/process/launch.h include/wallsample/process/maps.h include/wallsample/analysis/margin.h \
	include/wallsample/tracer/memory.h \
	include/wallsample/process/module.h include/wallsample/options.h \
	include/wallsample/process/process.h include/wallsample/profile/profile.h \
	include/wallsample/profile/profile_wait.h \
	include/wallsample/runtime/gil.h include/wallsample/elf/pclntab.h include/wallsample/analysis/gil_table.h include/wallsample/guard.h \
	include/wallsample/runtime/plumbing.h \
	include/wallsample/tracer/resident.h \
	include/wallsample/analysis/result.h include/wallsample/runtime/runtime.h \
	include/wallsample/runtime/runtime_tasks.h include/wallsample/sampler/sampler.h \
	include/wallsample/sampler/sampler_control.h include/wallsample/runtime/task.h \
	include/wallsample/tracer/snapshot.h include/wallsample/thread/state.h \
	include/wallsample/analysis/task_groups.h include/wallsample/analysis/task_table.h \
	include/wallsample/symbol/symbol.h include/wallsample/symbol/symbol_lookup.h \
	include/wallsample/elf/symbol_search.h include/wallsample/base/table.h \
	include/wallsample/tracer/tracer.h include/wallsample/tracer/tracer_count.h \
	include/wallsample/analysis/tree.h include/wallsample/unwind/unwind.h \
	include/wallsample/analysis/view.h include/wallsample/wait/wait.h \
	include/wallsample/analysis/waiting.h
EXTRA_DIST += src/README
