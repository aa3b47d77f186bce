/** `echelon-verify/pool`: verification in processes of their own. */

export { VerifierBusyError } from './pool/child.ts';
export type { UploadedFile, VerifierPool } from './pool/pool.ts';
export { createVerifierPool } from './pool/pool.ts';
