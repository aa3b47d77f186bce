/**
 * `echelon-verify/browser`: the verifier for web pages. It reads and verifies files in a worker thread of the page; nothing is sent.
 *
 *     const verifier = createVerifier();
 *     const { reports } = await verifier.ask({ kind: 'read', files: [{ path: file.name, file }] });
 */
import { type Thread, type Verifier, verifierIn } from './verifier.ts';

export type { Answers, ChosenFile, Found, Question } from './messages.ts';
export type { Thread, Verifier } from './verifier.ts';
export { verifierIn } from './verifier.ts';

declare const Worker: new (url: URL, options: { type: 'module' }) => Thread;

/**
 * Starts the thread from `verifier-thread.js` beside this module; the caller closes it. A page with Trusted Types makes the
 * thread by its own policy and calls {@link verifierIn}.
 */
export function createVerifier(): Verifier {
  // In exactly this form bundlers find the file. The build makes it.
  return verifierIn(new Worker(new URL('./verifier-thread.js', import.meta.url), { type: 'module' }));
}
