#!/bin/bash
# Runs the irctest conformance suite against our own server.
#
#   run.sh --binary PATH [options] [-- extra pytest arguments]
#
#   --binary PATH     the server (started as: PATH serve --config FILE)
#   --irctest DIR     an irctest checkout; default: a fresh one, from --mirror
#   --mirror GIT      git directory or address of progval/irctest (one of --irctest and --mirror is needed)
#   --commit REV      revision of it (default HEAD)
#   --venv DIR        Python environment, made if absent (default /tmp/parley-irctest-venv)
#   --out DIR         results (default /tmp/parley-irctest-results/DATE)
#   --select WHICH    standard  not implementation-specific, not deprecated (default)
#                     peers     as irctest's CI selects for InspIRCd and ngIRCd:
#                               also without accounts ("services") and strict tests
#                     ergo      standard and the Ergo-specific tests
#                     all       every server test
#   --profile P       strict (default): a claimed feature that is absent fails
#                     lenient: absent optional features are skipped
#   --jobs N          parallel pytest workers (default 2)
#   --timeout S       seconds allowed to one test (default 60; 15 is enough
#                     for a quick server and keeps a broken one from taking hours)
#   --baseline FILE   baseline.json to compare with (default: beside this script)
#   --keep-logs       keep every test's server output and config in OUT/server/
#
# Writes OUT/summary.json (per test id: outcome, markers, reason; totals overall,
# per file and per marker), OUT/pytest.log, OUT/compare.txt.
# Exit status: 0 all selected tests passed or skipped, 1 some failed, 2 misuse.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() { echo "run.sh: $1" >&2; exit 2; }

binary= irctest= mirror=${IRCTEST_MIRROR:-} commit=HEAD
venv=/tmp/parley-irctest-venv out= select=standard profile=strict jobs=2 timeout=60
baseline=$here/baseline.json keep_logs=
while (($#)); do
  case $1 in
    --binary) binary=$2; shift 2 ;;
    --irctest) irctest=$2; shift 2 ;;
    --mirror) mirror=$2; shift 2 ;;
    --commit) commit=$2; shift 2 ;;
    --venv) venv=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --select) select=$2; shift 2 ;;
    --profile) profile=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --timeout) timeout=$2; shift 2 ;;
    --baseline) baseline=$2; shift 2 ;;
    --keep-logs) keep_logs=1; shift ;;
    -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    --) shift; break ;;
    *) die "unknown argument $1 (see --help)" ;;
  esac
done
[[ -n $binary ]] || die "--binary is required"
[[ -n $irctest$mirror ]] || die "--irctest or --mirror is required"
binary=$(realpath "$binary") && [[ -x $binary ]] || die "not executable: $binary"

case $select in
  standard) markers='not implementation-specific and not deprecated' ;;
  peers) markers='not services and not implementation-specific and not deprecated and not strict' ;;
  ergo) markers='(Ergo or not implementation-specific) and not deprecated' ;;
  all) markers= ;;
  *) die "unknown --select $select" ;;
esac
[[ $profile == strict || $profile == lenient ]] || die "unknown --profile $profile"

out=${out:-/tmp/parley-irctest-results/$(date -u +%Y%m%dT%H%M%SZ)}
mkdir -p "$out"
out=$(realpath "$out")

# irctest keeps its list of used ports in the temporary directory and locks it only
# under pytest-xdist, so two runs sharing one directory break each other's tests
scratch=$(mktemp -d /tmp/parley-irctest.XXXXXX)

# Ends servers that outlived their test (see _end_leftover in the controller): only
# processes whose command line names a file of this very run.
cleanup() {
  local process
  for process in /proc/[0-9]*; do
    if { tr '\0' '\n' <"$process/cmdline" | grep -qF "$scratch/tmp/"; } 2>/dev/null; then
      kill -KILL "${process#/proc/}" 2>/dev/null || true
    fi
  done
  rm -rf "$scratch"
}
trap cleanup EXIT

if [[ -z $irctest ]]; then
  if [[ ! -d $mirror ]]; then
    git clone -q --bare "$mirror" "$scratch/mirror" || die "cannot clone $mirror"
    mirror=$scratch/mirror
  fi
  git --git-dir="$mirror" rev-parse -q --verify "$commit^{commit}" >/dev/null ||
    die "no irctest at $mirror ($commit)"
  irctest=$scratch/suite
  mkdir "$irctest"
  git --git-dir="$mirror" archive "$commit" | tar -x -C "$irctest"
  revision=$(git --git-dir="$mirror" rev-parse "$commit")
else
  irctest=$(realpath "$irctest")
  [[ -f $irctest/conftest.py ]] || die "no irctest checkout: $irctest"
  revision=$(git -C "$irctest" rev-parse HEAD 2>/dev/null || echo unknown)
fi

if [[ ! -x $venv/bin/python ]]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q -r "$irctest/requirements.txt" pytest-xdist pytest-timeout
fi

export PARLEY_BIN=$binary PARLEY_PROFILE=$profile
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
mkdir "$scratch/tmp"
export TMPDIR=$scratch/tmp
[[ -z $keep_logs ]] || export PARLEY_LOG_DIR=$out/server

echo "irctest $revision, $select, $profile, $jobs jobs; results in $out"
status=0
(cd "$irctest" && exec "$venv/bin/python" -m pytest \
  -p parley_report -p no:cacheprovider --controller controller_parley \
  ${markers:+-m "$markers"} -n "$jobs" --timeout "$timeout" -q -rfE \
  --parley-json "$out/summary.json" --parley-label "parley $select $profile irctest $revision" \
  irctest/server_tests "$@") >"$out/pytest.log" 2>&1 || status=$?

[[ -f $out/summary.json ]] || { tail -n 40 "$out/pytest.log" >&2; die "pytest did not finish (status $status)"; }
"$venv/bin/python" "$here/compare.py" table "$out/summary.json"
if [[ -f $baseline ]]; then
  "$venv/bin/python" "$here/compare.py" diff "$out/summary.json" "$baseline" >"$out/compare.txt"
  head -n 40 "$out/compare.txt"
fi
exit $((status == 0 ? 0 : 1))
