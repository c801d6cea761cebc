#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over the reader of recordings. A file that once broke something stays
# in the corpus; one that is refused at once tests nothing, and has to be made anew.
for file in "${SOURCE:?}"/tests/fuzz/corpus/recording/*.wsdb; do
	"${WALLSAMPLE:?}" info "$file" >/dev/null || exit
done
exec "${BUILD:?}/tests/fuzz/fuzz_recording" -s 1 -r "${FUZZ_ROUNDS:-400}" \
	"$SOURCE/tests/fuzz/corpus/recording"
