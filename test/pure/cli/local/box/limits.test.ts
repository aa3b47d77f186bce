import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeTasks, openFiles } from '../../../../../src/cli/local/box/limits.ts';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             20000                20000                processes
Max open files            1024                 524288               files
`;

/** A kernel with these files. */
const kernel =
  (files: Record<string, string>) =>
  (path: string): string | undefined =>
    files[path];

test('the smallest limit of the control groups above counts, less what is in use there', () => {
  const read = kernel({
    '/proc/self/cgroup': '0::/box/user.slice\n',
    '/sys/fs/cgroup/box/user.slice/pids.max': 'max\n',
    '/sys/fs/cgroup/box/pids.max': '8192\n',
    '/sys/fs/cgroup/box/pids.current': '7738\n',
    '/proc/self/limits': LIMITS,
  });
  const { free, by } = freeTasks(read, 100);
  assert.deepEqual([free, by], [8192 - 7738, 'pids.max 8192 of /sys/fs/cgroup/box']);
});

test('control groups of version 1 have a folder for each controller', () => {
  const read = kernel({
    '/proc/self/cgroup': '5:pids:/docker/abc\n4:memory:/docker/abc\n',
    '/sys/fs/cgroup/pids/docker/abc/pids.max': '500',
    '/sys/fs/cgroup/pids/docker/abc/pids.current': '20',
  });
  assert.equal(freeTasks(read, 0).free, 480);
});

test('the limit of the user counts, less the tasks of the user', () => {
  const read = kernel({ '/proc/self/limits': LIMITS });
  assert.deepEqual(freeTasks(read, 4000), { free: 16_000, by: '`ulimit -u` 20000' });
  assert.equal(openFiles(read), 1024);
});

test('without a limit everything is free', () => {
  assert.equal(freeTasks(kernel({}), 5).free, Number.POSITIVE_INFINITY);
  const unlimited = kernel({
    '/proc/self/limits': 'Max open files            unlimited            unlimited  files\n',
  });
  assert.equal(openFiles(unlimited), Number.POSITIVE_INFINITY);
});
