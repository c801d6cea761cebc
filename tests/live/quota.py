# SPDX-License-Identifier: MIT
"""quota.py WALLSAMPLE TARGET - when its control group has a quota of CPU time, wallsample keeps the
threads of TARGET (crowd.c) stopped for at most 2 % of their time.

Ends with 77 where no such group can be made.
"""
import json
import subprocess
import sys

from sampling import in_group, make_group, remove_group, set_quota

SECONDS = 10
MOST = 0.02      # of the time of the threads that ticks stop
SPINNERS = 8


def sample(group, pid, words):
    """The report of a run in the group, and what it said."""
    run = subprocess.run(
        in_group(group, [sys.argv[1], '-p', str(pid), '-d', str(SECONDS), '-f', 'json', '-o', '-',
                         *words]),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        sys.exit('status %d: %s' % (run.returncode, run.stderr))
    return json.loads(run.stdout), run.stderr


def main():
    group = make_group()
    if group is None:
        print('no control group with a quota of CPU time can be made here')
        sys.exit(77)
    failed = False
    target = subprocess.Popen([sys.argv[2], str(SPINNERS), '0', '4'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        target.stdout.readline()
        for percent, words in ((10, []), (10, ['-r', '1000', '--max-overhead', '100']),
                               (5, ['-r', '1000', '--stop-all'])):
            set_quota(group, percent)
            report, said = sample(group, target.pid, words)
            share = report['cost']['stops']['sum_ns'] / 1e9 / SPINNERS / SECONDS
            print('quota %d %%, %s: stopped %.2f %% of the time' %
                  (percent, ' '.join(words), 100 * share))
            if share > MOST:
                print('FAILED: more than %.0f %%' % (100 * MOST))
                failed = True
            if 'has a quota of %d%%' % percent not in said:
                print('FAILED: does not mention the quota: ' + said)
                failed = True
    finally:
        target.kill()
        target.communicate()
        remove_group(group)
    sys.exit(failed)


main()
