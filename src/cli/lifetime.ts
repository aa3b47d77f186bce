import closeWithGrace from 'close-with-grace';

/** Why a command is to end before its work is done: a signal, or a fault that nobody caught. */
export type Interruption = { signal: NodeJS.Signals } | { err: Error };

/**
 * Does `work` and releases what it registered with `resources` however it ends: by itself, by an error, by a signal
 * or by a fault that nobody caught. At the last two `interrupted` decides by a value or an error what comes out, at once,
 * while `work` may be anywhere; the process then exits when the caller has dealt with it. A second signal does not wait.
 */
export async function withLifetime<T>(
  work: (resources: AsyncDisposableStack) => Promise<T>,
  interrupted: (why: Interruption) => T,
): Promise<T> {
  const why = Promise.withResolvers<Interruption>();
  const over = Promise.withResolvers<void>();
  const grace = closeWithGrace({ delay: false }, async ({ signal, err }) => {
    // It also comes where the process has nothing left to do.
    if (!signal && !err) return;
    why.resolve(err ? { err } : { signal: signal! });
    await over.promise;
    // Whoever called has the next word: the exit status, and what to say.
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
