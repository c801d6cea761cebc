# Completion of wallsample for bash, written by: wallsample completion bash
_wallsample()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local command= commands='record report dump diff causal info help completion' options
	COMPREPLY=()
	[[ $COMP_CWORD -gt 1 && " $commands " == *" ${COMP_WORDS[1]} "* ]] &&
		command=${COMP_WORDS[1]}
	case $prev in
	--format|-f)
		COMPREPLY=($(compgen -W 'text folded pprof json chrome speedscope perf svg markdown html latex man' -- "$cur"))
		return ;;
	--tasks)
		COMPREPLY=($(compgen -W 'auto off' -- "$cur"))
		return ;;
	--by)
		COMPREPLY=($(compgen -W 'function line module source thread state lock gil' -- "$cur"))
		return ;;
	--sort)
		COMPREPLY=($(compgen -W 'wall overhead latency' -- "$cur"))
		return ;;
	--native)
		COMPREPLY=($(compgen -W 'merged only none' -- "$cur"))
		return ;;
	--debuginfod)
		COMPREPLY=($(compgen -W 'off cache net' -- "$cur"))
		return ;;
	--match)
		COMPREPLY=($(compgen -W 'stack self' -- "$cur"))
		return ;;
	--pid|-p)
		COMPREPLY=($(compgen -W "$(ps -eo pid=)" -- "$cur"))
		return ;;
	--name)
		COMPREPLY=($(compgen -W "$(ps -eo comm=)" -- "$cur"))
		return ;;
	--core|--exe|--output|-o)
		COMPREPLY=($(compgen -f -- "$cur"))
		return ;;
	--debug-dir|--symfs)
		COMPREPLY=($(compgen -d -- "$cur"))
		return ;;
	--duration|-d|--rate|-r|--limit|-n|--max-overhead|--max-stopped|--stack-size|--include|-I|--exclude|-X|--tid|--thread-name|--exclude-thread|--task|--state|--gil|--parallelism|--from|--to|--focus|--runtime|--progress|--select|--candidates|--speedups|--tick|--experiment|--profile-time|--precision|--max-hold)
		:
		return ;;
	esac
	case $command in
	'') options=' --pid --name --keep-root --duration --rate --no-jitter --output --format --no-cmdline --limit --full --threads --stop-all --nonblocking --max-overhead --max-stopped --realtime --stack-size --include --exclude --tid --thread-name --exclude-thread --tasks --task --created-by --state --gil --parallelism --from --to --by --sort --blame --tree --focus --lines --native --interpreter-frames --no-inlines --no-demangle --debug-dir --symfs --debuginfod --runtime --quiet --verbose --version --help' ;;
	'record') options=' --pid --name --keep-root --duration --rate --no-jitter --output --format --no-cmdline --stop-all --nonblocking --max-overhead --max-stopped --realtime --stack-size --tid --thread-name --exclude-thread --tasks --debug-dir --symfs --debuginfod --runtime --quiet --verbose --version --help' ;;
	'report') options=' --output --format --no-cmdline --limit --full --threads --include --exclude --tid --thread-name --exclude-thread --tasks --task --created-by --state --gil --parallelism --from --to --by --sort --blame --tree --focus --lines --native --interpreter-frames --no-inlines --no-demangle --debug-dir --symfs --debuginfod --quiet --verbose --version --help' ;;
	'dump') options=' --pid --name --core --exe --output --format --no-cmdline --nonblocking --stack-size --include --exclude --tid --thread-name --exclude-thread --tasks --task --created-by --state --gil --native --interpreter-frames --no-inlines --no-demangle --debug-dir --symfs --debuginfod --runtime --quiet --verbose --version --help' ;;
	'diff') options=' --output --format --no-cmdline --limit --include --exclude --thread-name --exclude-thread --tasks --created-by --state --gil --parallelism --from --to --by --sort --lines --native --interpreter-frames --no-inlines --no-demangle --debug-dir --symfs --debuginfod --quiet --verbose --version --help' ;;
	'causal') options=' --pid --name --keep-root --duration --output --format --no-cmdline --limit --stack-size --exclude-thread --by --no-inlines --no-demangle --debug-dir --symfs --debuginfod --runtime --progress --select --candidates --match --speedups --tick --experiment --profile-time --precision --max-hold --intrusive --quiet --verbose --version --help' ;;
	'info') options=' --quiet --verbose --version --help' ;;
	'help') options=' --quiet --verbose --version --help' ;;
	'completion') options=' --quiet --verbose --version --help' ;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
	elif [[ $COMP_CWORD -eq 1 || $command == help ]]; then
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
	elif [[ $command == completion ]]; then
		COMPREPLY=($(compgen -W 'bash zsh fish' -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
complete -o filenames -F _wallsample wallsample
