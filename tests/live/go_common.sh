# SPDX-License-Identifier: MIT
# go_common.sh - shell functions of the tests of Go programs, which read this file with "."
#
#   build_go OUT TARGET FLAGS…  builds the program OUT from tests/live/targets/TARGET.go with these
#                               flags; false when the build fails (there may be no C compiler)
#   each_go FUNCTION TARGET     builds the target in each way that Go has, and calls the function
#                               with the name of the way and the program
. "${SOURCE:?}/tests/cli/common.sh"

go=${GO:-go}
if ! "$go" version >/dev/null 2>&1; then
	echo 'no go here'
	exit 77
fi
needs_ptrace

# Nothing is downloaded. The cache of go's builds is the usual one.
export GOTOOLCHAIN="${GOTOOLCHAIN:-local}" GOFLAGS= GO111MODULE=off GOPROXY=off

build_go() {
	output=$1
	what=$2
	shift 2
	"$go" build -o "$output" "$@" "$SOURCE/tests/live/targets/$what.go" 2>"$err" && return
	echo "$what $*: cannot be built here"
	return 1
}

each_go() {
	export CGO_ENABLED=0
	build_go "$dir/plain" "$2" && "$1" plain "$dir/plain"
	build_go "$dir/stripped" "$2" -ldflags '-s -w' && "$1" stripped "$dir/stripped"
	build_go "$dir/pie" "$2" -buildmode=pie && "$1" pie "$dir/pie"
	build_go "$dir/pie-stripped" "$2" -buildmode=pie -ldflags '-s -w' &&
		"$1" pie-stripped "$dir/pie-stripped"
	export CGO_ENABLED=1
	build_go "$dir/external" "$2" -ldflags '-s -w -linkmode=external' &&
		"$1" external "$dir/external"
	build_go "$dir/external-pie" "$2" -buildmode=pie -ldflags '-s -w -linkmode=external' &&
		"$1" external-pie "$dir/external-pie"
}
