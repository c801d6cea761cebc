#!/bin/sh
# SPDX-License-Identifier: MIT
# A bounded round of fuzzing over the reader of recordings. A file that once broke something stays
# in the corpus. One that is refused at once tests nothing, and is made again:
# tests/replay/recording_convert.py makes recordings of a new version.
for file in "${SOURCE:?}"/tests/fuzz/corpus/recording/*.wsdb; do
	"${WALLSAMPLE:?}" info "$file" >/dev/null || exit
done
exec "${BUILD:?}/tests/fuzz/fuzz_recording" -s 1 -r "${FUZZ_ROUNDS:-400}" \
	"$SOURCE/tests/fuzz/corpus/recording"
