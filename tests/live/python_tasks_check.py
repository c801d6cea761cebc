# SPDX-License-Identifier: MIT
"""python_tasks_check.py SAID DUMP… - do dumps (JSON) have the tasks that python_tasks.py told of?

Says what is not so, and ends with 1 then.
"""
import json
import sys

wrong = []


def complain(text, *args):
    text = text.format(*args)
    if text not in wrong and len(wrong) < 20:
        print('    ' + text)
    wrong.append(text)


def tasks_of(dump):
    """By name: thread, state, who awaits it, frames, innermost first."""
    names = {task['id']: task['name'] for group in dump['tasks'] for task in group['tasks']}
    tasks = {}
    for group in dump['tasks']:
        frames = ['{}@{}:{}'.format(frame['function'], frame.get('file', '?'),
                                    frame.get('line', '?')) for frame in group['stack']]
        for task in group['tasks']:
            if task['name'] in tasks:
                complain('there are two {}', task['name'])
            by = ';'.join(sorted(names.get(it, '?') for it in task['awaited_by']))
            tasks[task['name']] = [str(group['tid']), group['state'], by] + frames
    return tasks


def check_moving(name, have, want):
    """One that was met on its way: what is inside of its own line is what that calls."""
    lines = dict(field.split('>') for field in want[3:])
    frames = [frame.rsplit('@', 1)[0] for frame in have[3:]]
    inside = frames[:-1]
    if have[0] != want[0] or have[2] != want[2] or have[1] not in ('running', 'waiting') or \
            not frames or frames[-1] != name:
        complain('{} is\n        {}', name, ' '.join(have))
    elif inside and have[-1].rsplit(':', 1)[1] != lines.get(inside[-1]):
        complain('{} can not be in\n        {}', name, ' < '.join(have[3:]))
    elif inside[:-1] and inside[:-1] != ['__sleep0' if inside[-1] == 'sleep' else 'work']:
        complain('{} can not have\n        {}', name, ' < '.join(have[3:]))


def check(have, truth):
    for name in sorted(set(have) ^ set(truth) ^ {'main'}):
        complain('{}: {} is {}', 'tasks', name, 'not there' if name in truth else 'none')
    for name in set(have) & set(truth):
        if truth[name][1] == 'moves':
            check_moving(name, have[name], truth[name])
        elif have[name] != truth[name]:
            complain('{} is\n        {}, not\n        {}', name, ' < '.join(have[name]),
                     ' < '.join(truth[name]))


def main(said, dumps):
    truth = {}
    with open(said, encoding='utf-8') as lines:
        for line in lines:
            fields = line.rstrip('\n').split('\t')
            truth[fields[0]] = fields[1:]
    judged, running = 0, 0
    for path in dumps:
        with open(path, encoding='utf-8') as file:
            dump = json.load(file)
        # A thread that gets no CPU for half a second is not to be had.
        if dump['tasks_missing']:
            print('    {}: {}'.format(path, dump['tasks_missing']))
            continue
        judged += 1
        tasks = tasks_of(dump)
        running += tasks.get('either', ['', ''])[1] == 'running'
        check(tasks, truth)
    if judged == 0:
        complain('no dump was whole')
    print('{} tasks in {} dumps, in {} of them one was met at work'.format(len(truth), judged,
                                                                         running))
    return 1 if wrong else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
