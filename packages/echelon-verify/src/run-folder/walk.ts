/** What lies in a folder, by names alone: files that can be dumps, and what tells the trainer. Bounded in time and memory. */

import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { progressed } from '../format/reading.ts';

/** Files and folders that trainers write beside their dumps. */
export type MarkKind =
  | 'arguments'
  | 'args-json'
  | 'config-yaml'
  | 'hydra'
  | 'prime-rl'
  | 'tensorboard'
  | 'wandb';

/** What a walk found. Paths begin with the folder. */
export interface FolderContents {
  /** Files that can be dumps by their names, in natural order: 2 before 10. */
  readonly files: readonly string[];
  /** Paths of the marks in the order in which they were met, the upper folders first; of each kind at most {@link MAX_MARKS}. */
  readonly marks: ReadonlyMap<MarkKind, readonly string[]>;
  /** Folders of weights, which hold no dumps. Each may hold marks. */
  readonly checkpoints: number;
  /** Folders that cannot be listed, with the error's code. */
  readonly unlisted: readonly { readonly folder: string; readonly code: string }[];
  /** Entries that were looked at. */
  readonly entries: number;
  /** True if the folder has more entries than are looked at. */
  readonly isCut: boolean;
}

/** Names of files that can be a dump: folders of a run hold much else. */
const DUMP = /\.(?:parquet|(?:jsonl|ndjson|json|csv|tsv)(?:\.gz)?|pt|pkl|pb)$/i;
/** Folders of weights and optimizer states, as transformers, verl, SkyRL and Megatron name them. */
const CHECKPOINT = /^(?:checkpoint-\d+|global_step_?\d+|iter_\d{7})$/;
/** Folders of programs. */
const PROGRAMS = new Set(['node_modules', 'site-packages', '__pycache__']);
/** A virtual environment has this file. */
const ENVIRONMENT = 'pyvenv.cfg';
const MAX_ENTRIES = 500_000;
const MAX_MARKS = 20;

/** What is still to be listed. */
interface Folder {
  readonly path: string;
  /** The folder is a checkpoint or lies in one: its files are no dumps. */
  readonly isCheckpoint: boolean;
}

/**
 * Looks at a folder and the folders in it, the upper ones first. Hidden folders, those of programs, and links are not entered. Throws
 * a system error if the folder itself cannot be listed.
 */
export async function walk(root: string, maxEntries = MAX_ENTRIES): Promise<FolderContents> {
  const files: string[] = [];
  const marks = new Map<MarkKind, string[]>();
  const unlisted: { folder: string; code: string }[] = [];
  const queue: Folder[] = [{ path: root, isCheckpoint: false }];
  let [entries, checkpoints, isCut] = [0, 0, false];
  for (let at = 0; at < queue.length && !isCut; at++) {
    const folder = queue[at]!;
    const listed = await list(folder.path, maxEntries - entries).catch((error: NodeJS.ErrnoException) => {
      if (at === 0 || error.code === undefined) throw error;
      unlisted.push({ folder: folder.path, code: error.code });
      return undefined;
    });
    if (listed === undefined) continue;
    entries += listed.entries.length;
    isCut = listed.isCut;
    progressed();
    if (listed.entries.some(({ name }) => name === ENVIRONMENT)) continue;
    for (const entry of listed.entries) {
      const path = join(folder.path, entry.name);
      const mark = markOf(entry);
      if (mark !== undefined) add(marks, mark, mark === 'tensorboard' ? folder.path : path);
      if (entry.isFile() && !folder.isCheckpoint && DUMP.test(entry.name)) files.push(path);
      if (!entry.isDirectory() || entry.name.startsWith('.') || PROGRAMS.has(entry.name)) continue;
      const isCheckpoint = CHECKPOINT.test(entry.name);
      if (isCheckpoint && !folder.isCheckpoint) checkpoints++;
      // Of a checkpoint only the first level can hold the settings of the run.
      if (!folder.isCheckpoint) queue.push({ path, isCheckpoint });
    }
  }
  files.sort(NATURAL.compare);
  return { files, marks, checkpoints, unlisted, entries, isCut };
}

/** One collator: making one for each comparison would take minutes for many files. */
const NATURAL = new Intl.Collator('en', { numeric: true });

async function list(folder: string, most: number): Promise<{ entries: Dirent[]; isCut: boolean }> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(folder, { bufferSize: 1024 })) {
    if (entries.length === most) return { entries, isCut: true };
    entries.push(entry);
  }
  return { entries, isCut: false };
}

function add(marks: Map<MarkKind, string[]>, kind: MarkKind, path: string): void {
  const known = marks.get(kind) ?? [];
  if (known.length < MAX_MARKS && known.at(-1) !== path) known.push(path);
  marks.set(kind, known);
}

const FILES: Readonly<Record<string, MarkKind>> = {
  'training_args.bin': 'arguments',
  'args.json': 'args-json',
  'config.yaml': 'config-yaml',
  'orchestrator.toml': 'prime-rl',
  'rl.toml': 'prime-rl',
};

function markOf(entry: Dirent): MarkKind | undefined {
  if (entry.isDirectory()) return { '.hydra': 'hydra', wandb: 'wandb' }[entry.name] as MarkKind | undefined;
  if (!entry.isFile()) return undefined;
  return entry.name.startsWith('events.out.tfevents.') ? 'tensorboard' : FILES[entry.name];
}
