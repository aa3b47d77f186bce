/**
 * Asks for something again and again, and reports every answer of `load` in the order of the requests. A request under way is
 * never given up for a newer one: else an answer that takes longer than the time between two requests would never be there.
 */
export function createAsker<T>(
  load: (signal: AbortSignal) => Promise<T>,
  report: { data(data: T): void; failure(error: unknown): void },
) {
  const stopped = new AbortController();
  let isAsking = false;
  let isAskedAgain = false;

  async function run(): Promise<void> {
    isAsking = true;
    do {
      isAskedAgain = false;
      try {
        const data = await load(stopped.signal);
        if (!stopped.signal.aborted) report.data(data);
      } catch (error) {
        if (!stopped.signal.aborted) report.failure(error);
      }
    } while (isAskedAgain && !stopped.signal.aborted);
    isAsking = false;
  }

  return {
    /** Asks now, or once more after the answer to the request that is under way. */
    ask() {
      if (isAsking) isAskedAgain = true;
      else void run();
    },
    /** Aborts the request under way; its answer is not reported. */
    stop: () => stopped.abort(),
  };
}
