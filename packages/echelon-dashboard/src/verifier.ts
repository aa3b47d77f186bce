import { type Verifier, verifierIn } from 'echelon-verify/browser/verifier';
import url from 'echelon-verify/browser/verifier-thread?worker&url';
import { workerUrl } from './app/trusted.ts';

/** Verifies files in a worker thread of the page; the caller closes it. */
export const createVerifier = (): Verifier => verifierIn(new Worker(workerUrl(url), { type: 'module' }));
