import { workerUrl } from '../app/trusted.ts';
import type { Answers, Question } from './verify-worker.ts';
import url from './verify-worker.ts?worker&url';

/** Verifies files in a worker of the page. Nothing is sent to the server. */
export interface Verifier {
  ask<K extends keyof Answers>(question: Extract<Question, { kind: K }>): Promise<Answers[K]>;
  close(): void;
}

/** Starts a worker; the caller closes it. */
export function createVerifier(): Verifier {
  const worker = new Worker(workerUrl(url), { type: 'module' });
  const waiting = new Map<number, PromiseWithResolvers<never>>();
  let last = 0;
  worker.onmessage = ({ data }: MessageEvent<{ id: number; answer?: never; error?: string }>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error === undefined) asked?.resolve(data.answer as never);
    else asked?.reject(new Error(data.error));
  };
  worker.onerror = ({ message }) => {
    for (const asked of waiting.values()) asked.reject(new Error(`The verifier failed: ${message}`));
  };
  return {
    ask(question) {
      const asked = Promise.withResolvers<never>();
      last += 1;
      waiting.set(last, asked);
      worker.postMessage({ id: last, question });
      return asked.promise;
    },
    close: () => worker.terminate(),
  };
}
