import { EchelonError } from '../../core/errors.ts';
import { RayWorkerError } from '../../rpc/status.ts';

/** Why attaching again cannot help; null: it may help. */
export function whyUnfollowable(error: unknown): string | null {
  if (!(error instanceof RayWorkerError)) return null;
  const { fault, message } = error;
  if (fault === 'unknown-attempt') return `the ray-worker does not know the attempt (${message})`;
  if (fault === 'ahead') return `the ray-worker's event log lacks events that were recorded (${message})`;
  if (fault === 'damaged' || fault === 'invalid') return `the event log cannot be read (${message})`;
  return null;
}

/** Whether a retry may help. A refused token may be corrected on either side. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof RayWorkerError && error.fault === 'denied') return true;
  return error instanceof EchelonError && error.retry;
}

/** Whether the store refused a write because another dispatcher has the lease. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof EchelonError && error.code === 'lease-lost';
}
