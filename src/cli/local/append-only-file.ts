import { execFile } from 'node:child_process';
import { open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What `redis-check-aof` prints for each file that it reads. */
const ANALYZED = /^AOF analyzed: filename=(.+), size=(\d+), ok_up_to=(\d+),/gm;

/**
 * Cuts a transaction that a crash left unfinished at the end of the append-only file in `directory`, before the server
 * `program` starts. Redis itself keeps the first commands of such a transaction in the file (`aof-load-truncated yes`)
 * and runs them after the next restart, beside the repetition that the client has sent since. Damage that is followed
 * by a whole transaction is left to the operator: a cut would remove acknowledged writes.
 */
export async function cutUnfinishedTransaction(program: string, directory: string): Promise<void> {
  const folder = join(directory, 'appendonlydir');
  const manifest = join(folder, 'appendonly.aof.manifest');
  const checker = program.replace(/server$/, 'check-aof');
  // It ends with exit code 1 if it finds damage; without a file or the program there is no output.
  const { stdout = '' } = await run(checker, [manifest]).catch((error) => error);
  const [, name, size, valid] = [...String(stdout).matchAll(ANALYZED)].at(-1) ?? [];
  if (name === undefined || size === valid) return;
  const file = join(folder, name);
  if (!(await readFrom(file, Number(valid))).includes('EXEC\r\n')) await truncate(file, Number(valid));
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  await using handle = await open(file);
  const bytes = Buffer.alloc((await handle.stat()).size - offset);
  await handle.read(bytes, 0, bytes.length, offset);
  return bytes;
}
