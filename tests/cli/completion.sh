#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# wallsample help CMD, and the scripts with which shells complete commands, options and arguments.
. "${SOURCE:?}/tests/cli/common.sh"

run help record
expect_status 0
cp "$out" help.record
run record --help
cmp -s help.record "$out" || complain 'help record is not record --help'
run help nothing
expect_status 64
run completion ksh
expect_status 64
run completion
expect_status 64

# completed WANTED WORDS…: bash completes the last of these words so
completed() {
	wanted=$1
	shift
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_wallsample
	[ "${COMPREPLY[*]}" = "$wanted" ] || complain "bash completes '$*' as '${COMPREPLY[*]}'"
}

run completion bash
expect_status 0
. "$out"
completed 'record report' wallsample re
completed '--sort' wallsample report --so
completed 'wall overhead latency' wallsample report --sort ''
completed 'speedscope' wallsample -f spe
completed '' wallsample record --sor
completed 'causal' wallsample help ca
completed 'bash zsh fish' wallsample completion ''
completed '' wallsample --rate 1
touch "$dir/one.wsdb"
completed "$dir/one.wsdb" wallsample report "$dir/one"
completed "$dir/one.wsdb" wallsample -o "$dir/one"
completed "$$" wallsample -p $$

# Each option of each command, with its help in zsh and fish.
for shell in bash zsh fish; do
	run completion "$shell"
	cp "$out" "script.$shell"
	for command in '' record report dump diff causal info; do
		"$WALLSAMPLE" $command --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'
	done | sort -u | while read -r option; do
		case $shell in
		fish) option="-l ${option#--}" ;;
		esac
		grep -q -e "$option" "script.$shell" || echo "$shell: $option"
	done >missing
	[ ! -s missing ] || complain "missing: $(cat missing)"
done
bash -n script.bash || complain 'bash: wrong syntax'
if command -v zsh >/dev/null; then
	zsh -n script.zsh || complain 'zsh: wrong syntax'
fi
if command -v fish >/dev/null; then
	fish -n script.fish || complain 'fish: wrong syntax'
	words=$(fish -c 'source script.fish; complete -C "wallsample report --sor"')
	[ "${words%%	*}" = --sort ] || complain "fish completes --sor as '$words'"
fi
finish
