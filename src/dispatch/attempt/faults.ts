import { EchelonError } from '../../core/errors.ts';
import { RayWorkerError } from '../../rpc/status.ts';

/** Why there is no use in attaching again, or null where there is. */
export function whyUnfollowable(error: unknown): string | null {
  if (!(error instanceof RayWorkerError)) return null;
  const { fault, message } = error;
  if (fault === 'unknown-attempt') return `the ray-worker does not know the attempt (${message})`;
  if (fault === 'ahead') return `the ray-worker's event log lacks events that were recorded (${message})`;
  if (fault === 'damaged' || fault === 'invalid') return `the event log cannot be read (${message})`;
  return null;
}

/** Whether trying again may help; a token that is not accepted may be corrected on either side. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof RayWorkerError && error.fault === 'denied') return true;
  return error instanceof EchelonError && error.retry;
}

/** Whether the store refused a write because another holds the attempt. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof EchelonError && error.code === 'lease-lost';
}
