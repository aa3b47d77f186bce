import closeWithGrace from 'close-with-grace';
import type { Output } from 'command-kit/output';

/** Why a command must end before its work is done: a signal, or an uncaught error. */
type Interruption = { signal: NodeJS.Signals } | { err: Error };

/**
 * Runs `work` and releases its `resources` in every case: at its end, after an error, a signal or an uncaught error. After a
 * signal or an uncaught error, `interrupted` gives the result (or throws) at once, while `work` may still run. The process
 * exits after the caller has handled that result. A second signal exits immediately.
 */
export async function withLifetime<T>(
  work: (resources: AsyncDisposableStack) => Promise<T>,
  interrupted: (why: Interruption) => T,
): Promise<T> {
  const why = Promise.withResolvers<Interruption>();
  const over = Promise.withResolvers<void>();
  const grace = closeWithGrace({ delay: false }, async ({ signal, err }) => {
    // The callback also runs when the process has nothing left to do.
    if (!signal && !err) return;
    why.resolve(err ? { err } : { signal: signal! });
    await over.promise;
    // The caller sets the exit status and prints the last message before the process exits.
    await new Promise(setImmediate);
    process.exit();
  });
  try {
    await using resources = new AsyncDisposableStack();
    return await Promise.race([work(resources), why.promise.then(interrupted)]);
  } finally {
    grace.uninstall();
    over.resolve();
  }
}

/** Exit status of a program that Ctrl-C ended, by the convention of shells. */
const INTERRUPTED = 130;

/** Runs `follow` to its end. Ctrl-C stops only the following: a remark tells how to follow again. */
export async function interruptible(
  { id, output }: { id: string; output: Output },
  follow: () => Promise<void>,
): Promise<void> {
  await withLifetime(follow, (why) => {
    if ('err' in why) throw why.err;
    output.remark(`\n${id} continues. Follow it again with:\n  echelon watch ${id}`);
    process.exitCode = INTERRUPTED;
  });
}
