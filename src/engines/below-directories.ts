/**
 * Whether an absolute path is one of the directories or below one. Pure; symbolic links are not resolved, and a path with
 * `..` is below none.
 */
export function isBelow(path: string, directories: readonly string[]): boolean {
  const parts = partsOf(path);
  if (!path.startsWith('/') || parts.includes('..')) return false;
  return directories.some((directory) => partsOf(directory).every((part, at) => parts[at] === part));
}

/** The names on the way to a directory, without empty ones and `.`. */
function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
