/** The part of node:path that the readers of dumps use, for browsers. */
export const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The folder of a path; '.' if it has none. */
export function dirname(path: string): string {
  const end = path.lastIndexOf('/');
  return end < 0 ? '.' : path.slice(0, end);
}

/** Parts of a path; '.' in front is omitted. */
export const join = (...parts: string[]): string => parts.filter((part) => part !== '.').join('/');
