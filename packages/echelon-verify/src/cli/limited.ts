/** Commands that read files of others run in a process whose memory the operating system limits, and whose progress is watched. */

import { totalmem } from 'node:os';
import { ownBytes, spawnLimited } from '../pool/memory-limit.ts';
import { watchProgress } from './stalled.ts';

/** The first argument of the limited process. */
const MARK = '--in-limited-process';
/** The limited process writes here the name of each file before it opens the file, and a mark after each part of its work. */
const NAMES_FD = 3;
/** What a name begins with, which a mark does not. */
const NAME = 'n';
const MIN_BYTES = 2 ** 30;

/** Memory that a command may take: a quarter of what the machine or container has. Node's own default for objects is the same. */
function memoryBytes(): number {
  return Math.max(MIN_BYTES, Math.min(totalmem(), process.constrainedMemory() || totalmem()) / 4);
}

/**
 * True in the limited process, which then carries out the command. Otherwise false, after this command line was carried out
 * in a limited process; this process has the same exit status.
 */
export async function isLimited(): Promise<boolean> {
  if (process.argv[2] !== MARK) {
    await runLimited();
    return false;
  }
  process.argv.splice(2, 1);
  const [{ writeSync }, { onReading }] = await Promise.all([
    import('node:fs'),
    import('../format/reading.ts'),
  ]);
  onReading((path) => void writeSync(NAMES_FD, path === undefined ? '\0' : `${NAME}${path}\0`));
  return true;
}

async function runLimited(): Promise<void> {
  const bytes = memoryBytes();
  const args = process.argv.slice(2);
  const child = spawnLimited(
    { memoryBytes: bytes, heapBytes: bytes },
    ownBytes(),
    [process.argv[1]!, MARK, ...args],
    {
      stdio: ['inherit', 'inherit', 'pipe', 'pipe'],
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const lastName = createLastName();
  const watch = watchProgress(child);
  (child.stdio[NAMES_FD] as NodeJS.ReadableStream).setEncoding('utf8').on('data', (text: string) => {
    lastName.add(text);
    watch.progressed();
  });
  const withheld = forwardMessages(child.stderr!);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...ended) => resolve(ended));
  });
  if (signal === null) {
    process.exitCode = code!;
    process.stderr.write(withheld());
  } else if (!FAULTS.has(signal)) endBy(signal);
  else await reportDeath(lastName.name(), { args, isStalled: watch.isStalled() });
}

/** How a process ends that gets no more memory, or that the system ends in favour of others. */
const FAULTS = new Set<NodeJS.Signals>(['SIGABRT', 'SIGBUS', 'SIGILL', 'SIGKILL', 'SIGSEGV', 'SIGTRAP']);

/** The last complete name of the messages of the limited process. */
function createLastName(): { add(text: string): void; name(): string | undefined } {
  let [rest, last] = ['', undefined as string | undefined];
  return {
    add(text) {
      const messages = `${rest}${text}`.split('\0');
      rest = messages.pop()!;
      last = messages.findLast((message) => message.startsWith(NAME)) ?? last;
    },
    name: () => last?.slice(NAME.length),
  };
}

/** How Node begins its last words: pages about its memory that help no user. */
const LAST_WORDS = /^\n*(?:<--- |FATAL ERROR:|#\s*$|# Fatal|terminate called)/m;

/** Forwards messages as they come. Returns what was withheld since something looked like last words. */
function forwardMessages(from: NodeJS.ReadableStream): () => string {
  process.stderr.on('error', () => undefined);
  let withheld = '';
  from.setEncoding('utf8').on('data', (text: string) => {
    const at = withheld === '' ? text.search(LAST_WORDS) : 0;
    process.stderr.write(at < 0 ? text : text.slice(0, at));
    if (at >= 0) withheld += text.slice(at);
  });
  return () => withheld;
}

function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

async function reportDeath(
  path: string | undefined,
  { args, isStalled }: { args: readonly string[]; isStalled: boolean },
): Promise<void> {
  const [{ outOfMemory, outOfTime }, { EXIT }, { errorLine }, { inert }] = await Promise.all([
    import('./batch-files.ts'),
    import('command-kit/exit'),
    import('command-kit/output'),
    import('command-kit/inert'),
  ]);
  const message = isStalled ? outOfTime(path) : outOfMemory(path);
  process.exitCode = EXIT.usage;
  const text = args.includes('--json') ? errorLine(message, { status: EXIT.usage }) : inert(message);
  process.stderr.write(`${text}\n`);
}
