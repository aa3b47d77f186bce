import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from 'command-kit/exit';

/** What a detached `echelon up` tells the command that started it. */
type Message = { remark: string } | { ready: string };

/** Tells the starter of this process, if it was started by {@link startDetached}; false if it was not. */
export function tellStarter(message: Message): boolean {
  if (process.send === undefined || !process.connected) return false;
  process.send(message);
  return true;
}

/**
 * Starts this command line again with `args`, in a session of its own and with its output in `logFile`, and waits until it is
 * ready. Returns its last words. A {@link CliError} with the end of its log if it ends before; a signal to this process ends it.
 */
export async function startDetached(options: {
  args: readonly string[];
  logFile: string;
  signal: AbortSignal;
  progress: (text: string) => void;
}): Promise<string> {
  const { logFile, progress, signal } = options;
  await mkdir(dirname(logFile), { recursive: true, mode: 0o700 });
  const log = openSync(logFile, 'w', 0o600);
  const program = fileURLToPath(new URL(`../main${import.meta.url.slice(-3)}`, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, program, ...options.args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.on('message', (message: Message) => {
    if ('remark' in message) progress(message.remark);
    else resolve(message.ready);
  });
  child.once('error', reject);
  child.once('exit', async (code, by) => {
    const said = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-15).join('\n');
    reject(
      new CliError(
        EXIT.notOk,
        `it ended before it was ready (${by ?? `exit code ${code}`}). It said:\n${said}`,
      ),
    );
  });
  const ready = await promise;
  child.disconnect();
  child.unref();
  return ready;
}
