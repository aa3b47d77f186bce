import { RayTimeoutError } from './errors.ts';

/** `promise`, or {@link RayTimeoutError} once `timeoutMs` have passed; undefined waits for ever. */
export async function withTimeout<T>(
  promise: Promise<T>,
  timeoutMs: number | undefined,
  what: string,
): Promise<T> {
  if (timeoutMs === undefined) return promise;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new RayTimeoutError(what, timeoutMs)), timeoutMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
