import type { MemorySettings } from '../../engines/engine.ts';
import { findEngine } from '../../engines/registry.ts';

/** What to do after an attempt found a disk full. */
export const DISK_ADVICE =
  'free space on the file system that the last lines name (checkpoints take most of it) or retain fewer checkpoints, and run the experiment again: it resumes from the last complete checkpoint';

/** What to change after an engine ran out of memory; `message`: how the ray-worker said it. Empty: nothing is known. */
export function memoryAdvice(engine: string, message: string): string {
  const { gpu, host } = findEngine(engine)?.memory ?? {};
  const settings = /GPU|CUDA/.test(message) ? (gpu ?? host) : host;
  return settings === undefined ? '' : inWords(settings);
}

function inWords({ lower, set }: MemorySettings): string {
  const switched = set === undefined ? '' : `, or set ${list(set.pointers, 'and')} to ${set.to}`;
  return `lower ${list(lower, 'or')}${switched}`;
}

function list(pointers: readonly string[], word: 'and' | 'or'): string {
  const first = pointers.slice(0, -1).join(', ');
  return first === '' ? pointers.join('') : `${first} ${word} ${pointers.at(-1)}`;
}
