import { DEFAULT_PROJECT } from '../schemas/project.ts';

/**
 * Where a project's checkpoints or exports are on the cluster. Specs name directories below it, whose names start with a
 * letter or digit: no spec names `_projects`, so none reaches the directories of another project.
 */
export function projectDirectory(kind: 'checkpoints' | 'exports', project: string): string {
  const root = `{sharedRoot}/${kind}`;
  return project === DEFAULT_PROJECT ? root : `${root}/_projects/${project}`;
}
