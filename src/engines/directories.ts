import { DEFAULT_PROJECT } from '../schemas/project.ts';

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

/**
 * Where a project's checkpoints or exports are on the cluster. Specs name directories below it, whose names start with a
 * letter or digit: no spec names `_projects`, so none reaches the directories of another project.
 */
export function projectDirectory(kind: 'checkpoints' | 'exports', project: string): string {
  const root = `{sharedRoot}/${kind}`;
  return project === DEFAULT_PROJECT ? root : `${root}/_projects/${project}`;
}
