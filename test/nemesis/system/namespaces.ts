const INSIDE = 'NEMESIS_INSIDE';
/** Shared memory and temporary files of the campaign. */
export const SHARED_MEMORY = '/dev/shm';
const TEMPORARY = `${SHARED_MEMORY}/t`;

/** Collects orphans while it waits for the program. */
const INIT = `mount -t tmpfs none ${SHARED_MEMORY} && mkdir ${TEMPORARY} && "$@"; exit $?`;

/**
 * Runs this program again, with process ids, shared memory and temporary files of its own: what it leaves is visible, and
 * nothing outlives it. Returns in the program that was run again.
 */
export function enterOwnNamespaces(): void {
  if (process.env[INSIDE]) return;
  const wrap = [
    'unshare',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount',
    '--mount-proc',
    'sh',
    '-c',
    INIT,
    'sh',
  ];
  const environment = { ...process.env, [INSIDE]: '1', TMPDIR: TEMPORARY };
  process.execve?.('/usr/bin/unshare', [...wrap, process.execPath, ...process.argv.slice(1)], environment);
}
