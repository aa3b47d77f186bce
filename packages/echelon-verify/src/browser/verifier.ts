import type { Answers, Question } from './messages.ts';

/** The part of a page's `Worker` that is used here. */
export interface Thread {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: MessageEvent) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
}

/** Verifies files in a worker thread of the page. Nothing is sent to a server. */
export interface Verifier {
  /** Fails with an Error that says why a file cannot be read. */
  ask<K extends keyof Answers>(question: Extract<Question, { kind: K }>): Promise<Answers[K]>;
  /** Ends the thread; questions without an answer stay without one. */
  close(): void;
}

interface Waiting {
  resolve(answer: never): void;
  reject(error: Error): void;
}

/** A verifier in a thread that runs `verifier-thread`. The caller closes it. */
export function verifierIn(thread: Thread): Verifier {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  thread.onmessage = ({ data }) => {
    const { id, answer, error } = data as { id: number; answer?: never; error?: string };
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(answer as never);
    else asked?.reject(new Error(error));
  };
  thread.onerror = ({ message }: { message?: string }) => {
    for (const asked of waiting.values()) asked.reject(new Error(`The verifier failed: ${message}`));
  };
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        thread.postMessage({ id: last, question });
      }),
    close: () => thread.terminate(),
  };
}
