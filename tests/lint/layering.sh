#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Dependencies between the folders of src/ point one way: each includes only the headers of
# those below it. The two tables are the rule; a new header has to be entered here.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

# Which folder a header is the contract of.
declare -A folder_of=(
	[banned]=base [base]=base [error]=base [histogram]=base [table]=base
	[attach]=target [core]=target [elf_open]=target [find]=target [go_table]=target [image]=target [launch]=target
	[maps]=target
	[module]=target [process]=target [symbol_search]=target
	[jit_objects]=target [jit]=jit
	[state]=state
	[core_thread]=tracer [memory]=tracer [resident]=tracer [snapshot]=tracer [tracer]=tracer [tracer_count]=tracer
	[descriptor]=wait [wait]=wait
	[chain]=unwind [unwind]=unwind
	[code_ranges]=symbol [debug_info]=symbol [symbol]=symbol [symbol_lookup]=symbol
	[gil]=runtime [plumbing]=runtime [runtime]=runtime [runtime_tasks]=runtime [task]=runtime
	[profile]=profile [profile_wait]=profile
	[core_sample]=sampler [sampler]=sampler [sampler_control]=sampler
	[causal]=causal [causal_curve]=causal [causal_run]=causal [progress]=causal [progress_coz]=causal
	[recording]=recording [recording_read]=recording
	[diff]=analysis [dump]=analysis [finding]=analysis [gil_table]=analysis [margin]=analysis [result]=analysis [task_groups]=analysis [task_table]=analysis [tree]=analysis [view]=analysis [waiting]=analysis
	[export]=export
	[command]=cli [guard]=cli [options]=cli
)

# Whose headers a folder may include, besides its own.
declare -A below=(
	[base]=''
	[target]='base'
	[state]='base target'
	[tracer]='base target state'
	[wait]='base target state tracer'
	[unwind]='base target tracer'
	[jit]='base target'
	[symbol]='base target jit'
	[runtime]='base target state tracer wait unwind jit symbol'
	[profile]='base target state wait unwind runtime'
	[sampler]='base target jit state tracer wait unwind runtime profile'
	[causal]='base target jit state tracer wait unwind symbol runtime profile sampler'
	[recording]='base target state wait unwind symbol runtime profile sampler causal'
	[analysis]='base target state wait unwind runtime profile symbol'
	[export]='base target jit state wait unwind runtime profile symbol sampler causal recording analysis'
	[cli]='base target jit state tracer wait unwind symbol runtime profile sampler causal recording analysis export'
)

failed=0
complain() {
	printf '%s\n' "$*"
	failed=1
}

# may_include FOLDER HEADER WHO
may_include() {
	local owner=${folder_of[$2]:-}
	if [ -z "$owner" ]; then
		complain "$3: wallsample/$2.h belongs to no folder in the table of $0"
	elif [ "$owner" != "$1" ] && [[ " ${below[$1]} " != *" $owner "* ]]; then
		complain "$3: $1 may not include wallsample/$2.h, which is $owner's"
	fi
}

included() {
	sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"wallsample\/\(.*\)\.h".*/\1/p' "$1"
}

# The order itself has no ring: each folder stands only on folders that are named before it.
order='base target jit state tracer wait unwind symbol runtime profile sampler causal recording analysis export cli'
seen=' '
for folder in $order; do
	for lower in ${below[$folder]}; do
		[[ $seen == *" $lower "* ]] || complain "$0: $folder stands on $lower, a later folder"
	done
	seen="$seen$folder "
done

for header in include/wallsample/*.h; do
	name=$(basename "$header" .h)
	owner=${folder_of[$name]:-}
	[ -n "$owner" ] || complain "$header belongs to no folder in the table of $0"
	[ -n "$owner" ] || continue
	for used in $(included "$header"); do
		may_include "$owner" "$used" "$header"
	done
done

for path in src/*/; do
	folder=$(basename "$path")
	[ -n "${below[$folder]+x}" ] || complain "$path is not in the table of $0"
	[ -n "${below[$folder]+x}" ] || continue
	for file in "$path"*.[ch]; do
		for used in $(included "$file"); do
			may_include "$folder" "$used" "$file"
		done
		# A private header is its own folder's and no other's.
		for used in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
			case $used in
			wallsample/* | config.h | *.pb-c.h | *.css.h | *.js.h) ;; # the last are generated
			*) [ -e "$path$used" ] || complain "$file: \"$used\" is not in $path" ;;
			esac
		done
	done
done

exit $failed
