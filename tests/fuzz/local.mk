# Fuzz targets with a driver of our own: see tests/README.
check_PROGRAMS += tests/fuzz/fuzz_module tests/fuzz/fuzz_jit tests/fuzz/fuzz_jit_elf
tests_fuzz_fuzz_module_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_module.c
tests_fuzz_fuzz_module_LDADD = $(WALLSAMPLE_LIBS)
tests_fuzz_fuzz_jit_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_jit.c
tests_fuzz_fuzz_jit_LDADD = $(WALLSAMPLE_LIBS)
tests_fuzz_fuzz_jit_elf_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_jit_elf.c
tests_fuzz_fuzz_jit_elf_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/driver.sh tests/fuzz/module.sh tests/fuzz/jit.sh
fuzz_corpus = \
	tests/fuzz/corpus/module/dwarf4.so tests/fuzz/corpus/module/dwarf5.so \
	tests/fuzz/corpus/module/dwarf5-gz.so tests/fuzz/corpus/module/stripped.so \
	tests/fuzz/corpus/module/debugdata.so \
	tests/fuzz/corpus/jit/lines.dump tests/fuzz/corpus/jit/node.map \
	tests/fuzz/corpus/jit/overlaps.dump tests/fuzz/corpus/jit/overlaps.map \
	tests/fuzz/corpus/jit/v8.dump \
	tests/fuzz/corpus/jit_elf/dwarf4.elf tests/fuzz/corpus/jit_elf/llvm.elf \
	tests/fuzz/corpus/jit_elf/object.elf tests/fuzz/corpus/jit_elf/program.elf \
	tests/fuzz/corpus/jit_elf/textrel.elf
EXTRA_DIST += tests/fuzz/driver.sh tests/fuzz/module.sh tests/fuzz/jit.sh $(fuzz_corpus)

check_PROGRAMS += tests/fuzz/fuzz_cfi
tests_fuzz_fuzz_cfi_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_cfi.c
tests_fuzz_fuzz_cfi_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/cfi.sh
EXTRA_DIST += tests/fuzz/cfi.sh \
	tests/fuzz/corpus/cfi/asm.eh_frame tests/fuzz/corpus/cfi/libc.eh_frame \
	tests/fuzz/corpus/cfi/program.debug_frame

check_PROGRAMS += tests/fuzz/fuzz_core
tests_fuzz_fuzz_core_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_core.c
tests_fuzz_fuzz_core_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/core.sh
EXTRA_DIST += tests/fuzz/core.sh \
	tests/fuzz/corpus/core/gcore.core tests/fuzz/corpus/core/kernel.core

check_PROGRAMS += tests/fuzz/fuzz_proc
tests_fuzz_fuzz_proc_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_proc.c
tests_fuzz_fuzz_proc_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/proc.sh
EXTRA_DIST += tests/fuzz/proc.sh \
	tests/fuzz/corpus/proc/cgroup tests/fuzz/corpus/proc/epoll tests/fuzz/corpus/proc/inotify tests/fuzz/corpus/proc/loadavg \
	tests/fuzz/corpus/proc/locks \
	tests/fuzz/corpus/proc/machine tests/fuzz/corpus/proc/maps tests/fuzz/corpus/proc/maps-odd \
	tests/fuzz/corpus/proc/sched tests/fuzz/corpus/proc/schedstat tests/fuzz/corpus/proc/signalfd \
	tests/fuzz/corpus/proc/stat tests/fuzz/corpus/proc/stat-odd tests/fuzz/corpus/proc/status \
	tests/fuzz/corpus/proc/syscall tests/fuzz/corpus/proc/timerfd

check_PROGRAMS += tests/fuzz/fuzz_recording
tests_fuzz_fuzz_recording_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_recording.c
tests_fuzz_fuzz_recording_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/recording.sh
EXTRA_DIST += tests/fuzz/recording.sh \
	tests/fuzz/corpus/recording/causal.wsdb \
	tests/fuzz/corpus/recording/causal-v6.wsdb \
	tests/fuzz/corpus/recording/idle.wsdb \
	tests/fuzz/corpus/recording/job.wsdb \
	tests/fuzz/corpus/recording/killed.two \
	tests/fuzz/corpus/recording/job-v6.wsdb

check_PROGRAMS += tests/fuzz/fuzz_python
tests_fuzz_fuzz_python_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_python.c
tests_fuzz_fuzz_python_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/python.sh
EXTRA_DIST += tests/fuzz/python.sh \
	tests/fuzz/corpus/python/dwarf.so tests/fuzz/corpus/python/dwarf4-gz.so \
	tests/fuzz/corpus/python/says-3.13.bin tests/fuzz/corpus/python/says-3.14t.bin \
	tests/fuzz/corpus/python/says-3.15.bin

# Has a driver of its own: what it damages is made and not kept.
check_PROGRAMS += tests/fuzz/fuzz_python_memory
tests_fuzz_fuzz_python_memory_SOURCES = \
	tests/fuzz/fuzz_python_memory.c tests/unit/scene/python_array.c tests/unit/scene/python_array.h
tests_fuzz_fuzz_python_memory_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/python_memory.sh
EXTRA_DIST += tests/fuzz/python_memory.sh

check_PROGRAMS += tests/fuzz/fuzz_go
tests_fuzz_fuzz_go_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_go.c
tests_fuzz_fuzz_go_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/go.sh
EXTRA_DIST += tests/fuzz/go.sh \
	tests/fuzz/corpus/go/new.elf tests/fuzz/corpus/go/old.elf tests/fuzz/corpus/go/pie.elf

check_PROGRAMS += tests/fuzz/fuzz_names
tests_fuzz_fuzz_names_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_names.c
tests_fuzz_fuzz_names_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/names.sh
EXTRA_DIST += tests/fuzz/names.sh \
	tests/fuzz/corpus/names/files tests/fuzz/corpus/names/names
