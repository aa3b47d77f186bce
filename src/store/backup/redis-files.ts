import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The folder of the append-only file in the data directory of a Redis, by its default name. */
const FOLDER = 'appendonlydir';
const SNAPSHOT = 'appendonly.aof.1.base.rdb';

/** Whether a directory has data of a Redis. */
export async function hasRedisData(directory: string): Promise<boolean> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.includes(FOLDER) || names.some((name) => name.endsWith('.rdb'));
}

/**
 * Makes a snapshot the data that a Redis loads from `directory` at its start: the base of an append-only file. The folder
 * gets its name last, so that a Redis never loads part of it. May be repeated after an interruption.
 */
export async function writeRedisData(
  directory: string,
  snapshot: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const [folder, unfinished] = [join(directory, FOLDER), join(directory, `${FOLDER}.restoring`)];
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  await writeFile(join(unfinished, SNAPSHOT), snapshot);
  const manifest = Buffer.from(`file ${SNAPSHOT} seq 1 type b\n`);
  await writeFile(join(unfinished, 'appendonly.aof.manifest'), [manifest]);
  await sync(unfinished);
  await rename(unfinished, folder);
  for (const one of [directory, dirname(directory)]) await sync(one);
}

async function writeFile(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  for await (const piece of pieces) await file.writeFile(piece);
  await file.sync();
}

async function sync(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
