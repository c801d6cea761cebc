# Fuzz targets with a driver of our own: see tests/README.
check_PROGRAMS += tests/fuzz/fuzz_module
tests_fuzz_fuzz_module_SOURCES = \
	tests/fuzz/fuzz.h tests/fuzz/fuzz_driver.c tests/fuzz/fuzz_module.c
tests_fuzz_fuzz_module_LDADD = $(WALLSAMPLE_LIBS)
TESTS += tests/fuzz/module.sh
fuzz_corpus = \
	tests/fuzz/corpus/module/dwarf4.so tests/fuzz/corpus/module/dwarf5.so \
	tests/fuzz/corpus/module/dwarf5-gz.so tests/fuzz/corpus/module/stripped.so \
	tests/fuzz/corpus/module/debugdata.so
EXTRA_DIST += tests/fuzz/module.sh $(fuzz_corpus)
