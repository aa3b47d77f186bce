import { RayVersionError } from './errors.ts';

/** Releases on which the client's tests are run. */
export const TESTED_VERSIONS = { oldest: [2, 41], newest: [2, 60] } as const;

/** From this release on, a server forgives chunks that are repeated after their request was answered. */
const FORGIVES_REPEATED_CHUNKS = [2, 60] as const;

/** What follows from the version of the server. */
export interface VersionTraits {
  /** Why the version may give trouble; undefined within the tested range. */
  readonly warning: string | undefined;
  /** Whether a request in several chunks may be repeated after a reconnect. */
  readonly forgivesRepeatedChunks: boolean;
}

/** Judges the server's version; throws {@link RayVersionError} below 2.0 and for what is no version. */
export function judgeVersion(rayVersion: string): VersionTraits {
  const match = /^(\d+)\.(\d+)/.exec(rayVersion);
  const version = match === null ? undefined : ([Number(match[1]), Number(match[2])] as const);
  if (version === undefined || version[0] < 2) {
    throw new RayVersionError(rayVersion, `Ray "${rayVersion}" is not supported; 2.0 or newer is needed`);
  }
  const { oldest, newest } = TESTED_VERSIONS;
  const tested = compare(version, oldest) >= 0 && compare(version, newest) <= 0;
  return {
    warning: tested
      ? undefined
      : `Ray ${rayVersion} is outside the tested range ${oldest.join('.')} to ${newest.join('.')}`,
    forgivesRepeatedChunks: compare(version, FORGIVES_REPEATED_CHUNKS) >= 0,
  };
}

function compare(a: readonly [number, number], b: readonly [number, number]): number {
  return a[0] - b[0] || a[1] - b[1];
}
