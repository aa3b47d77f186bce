import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** One call of Python by a script. */
export interface PythonCall {
  /** Without the interpreter. */
  words: string[];
  environment: Record<string, string>;
}

/** Programs that a script may call before it trains, and that must not run for this. */
const SILENT = ['ray', 'pip', 'pip3', 'conda', 'wandb', 'huggingface-cli', 'hf', 'nvidia-smi', 'sleep'];
const PYTHONS = ['python', 'python3', 'torchrun'];

/** Writes its words, and the environment, each ended by a zero byte; a line tells how many words there are. */
const RECORDER = `#!/bin/sh
{ printf '%s\\n' "$#"; [ "$#" -eq 0 ] || printf '%s\\0' "$@"; env -0; printf '\\0'; } >> "$ECHELON_CALLS"
`;

/**
 * Runs a script by bash in `folder` with stand-ins for Python and for programs such as ray and pip, and returns what it would have
 * called Python with. Its other commands are really executed. Ends it after `timeoutMs`.
 */
export async function recordCalls(options: {
  script: string;
  arguments: readonly string[];
  folder: string;
  environment: NodeJS.ProcessEnv;
  timeoutMs: number;
}): Promise<{ calls: PythonCall[]; said: string }> {
  const place = await mkdtemp(join(tmpdir(), 'echelon-script-'));
  try {
    const bin = join(place, 'bin');
    await mkdir(bin);
    const stub = (name: string, text: string) => writeFile(join(bin, name), text, { mode: 0o755 });
    await Promise.all([
      ...SILENT.map((name) => stub(name, '#!/bin/sh\nexit 0\n')),
      ...PYTHONS.map((name) => stub(name, RECORDER)),
    ]);
    const file = join(place, 'calls');
    const environment = {
      ...options.environment,
      PATH: `${bin}${delimiter}${options.environment.PATH ?? ''}`,
      ECHELON_CALLS: file,
    };
    const said = await runBash(options, environment);
    return { calls: parseCalls(await readFile(file, 'utf8').catch(() => '')), said };
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Runs the script in a group of its own, and returns the end of what it printed. */
async function runBash(
  { script, arguments: words, folder, timeoutMs }: Parameters<typeof recordCalls>[0],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const child = spawn('bash', [script, ...words], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      said = `${said}${part}`.slice(-4000);
    });
  const over = new AbortController();
  await Promise.race([
    once(child, 'exit'),
    delay(timeoutMs, undefined, { signal: over.signal }).catch(() => undefined),
  ]);
  over.abort();
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // Everything that it started has ended.
  }
  return said;
}

function parseCalls(text: string): PythonCall[] {
  const calls: PythonCall[] = [];
  let rest = text;
  while (rest !== '') {
    const line = rest.indexOf('\n');
    const count = Number(rest.slice(0, line));
    const end = rest.indexOf('\0\0', line);
    const parts = rest.slice(line + 1, end).split('\0');
    const variables = parts.slice(count).map((pair): [string, string] => {
      const equals = pair.indexOf('=');
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    });
    calls.push({ words: parts.slice(0, count), environment: Object.fromEntries(variables) });
    rest = rest.slice(end + 2);
  }
  return calls;
}
