import { EchelonError } from '../../core/errors.ts';
import { DEFAULT_PROJECT, newProject, type Project, type ProjectChange } from '../../schemas/project.ts';
import type { StoreContext } from '../context.ts';
import { guarded } from '../redis/errors.ts';
import { inKnownLayout } from '../redis/layouts.ts';
import { unlessChanged } from '../redis/revisions.ts';
import type { createApiKeys } from './api-keys.ts';

/** The outcome of a removal: `removed`, `absent`, or what the project still has. */
export type ProjectRemoval = 'removed' | 'absent' | 'experiments' | 'sweeps' | 'keys';

/** EchelonError `invalid-spec` for a project that was removed after it was resolved; `field` names it. */
export function projectRemoved(field: string): EchelonError {
  const problems = [{ field, message: 'names a project that was removed' }];
  return new EchelonError('invalid-spec', 'The project was removed. Submit to another project.', {
    problems,
  });
}

/** Projects: a hash of them (JSON) by name. */
export function createProjects(
  context: StoreContext,
  apiKeys: Pick<ReturnType<typeof createApiKeys>, 'version' | 'keys'>,
) {
  const { redis, keys, run } = context;
  const hash = `${keys.root}:projects`;

  const swap = async (
    name: string,
    from: string | null,
    to: Project,
    revision?: number,
  ): Promise<boolean> => {
    const args = ['projects', name, from ?? '', JSON.stringify(to), '', revision ?? ''];
    return (await unlessChanged(run('swap-access', args))) === 1;
  };

  return {
    /** All projects by name, always with `default`. */
    async list(): Promise<Project[]> {
      return toProjects(await guarded(redis.hgetall(hash)));
    },

    async get(name: string): Promise<Project | undefined> {
      const text = await guarded(redis.hget(hash, name));
      if (text !== null) return readProject(text);
      return name === DEFAULT_PROJECT ? theDefault() : undefined;
    },

    /** False if the name is taken. */
    async create(project: Project): Promise<boolean> {
      return project.name !== DEFAULT_PROJECT && (await swap(project.name, null, project));
    },

    /** The changed project; undefined if there is none. Throws `precondition-failed` if it has another `revision`. */
    async change(name: string, change: ProjectChange, revision?: number): Promise<Project | undefined> {
      for (;;) {
        const text = await guarded(redis.hget(hash, name));
        if (text === null && name !== DEFAULT_PROJECT) return undefined;
        const before = text === null ? theDefault() : readProject(text);
        const after = { ...before, ...change };
        if (await swap(name, text, after, revision)) return after;
      }
    },

    /**
     * Removes a project without experiments, sweeps and valid API keys. Throws `precondition-failed` if it has another
     * `revision`.
     */
    async remove(name: string, now: number, revision?: number): Promise<ProjectRemoval> {
      for (;;) {
        // In this order: a key that is created later changes the version.
        const version = await apiKeys.version();
        const valid = (await apiKeys.keys()).some(
          (key) => key.project === name && key.revokedAt === null && (key.expiresAt ?? Infinity) > now,
        );
        const args = [name, revision ?? '', version, valid ? '1' : '0', DEFAULT_PROJECT];
        const outcome = await unlessChanged(run('remove-project', args));
        if (outcome !== 'moved') return outcome as ProjectRemoval;
      }
    },

    /** Bytes that projects store in Redis, by name; a project that stores nothing may be absent. */
    storedBytes: () => storedBytes(context),

    /** Whether the project has an experiment or a sweep of that id. */
    async contains(project: string, id: string): Promise<boolean> {
      const index = id.startsWith('swp-') ? `${keys.root}:sweeps:${project}` : keys.index({ project });
      return (await guarded(redis.zscore(index, id))) !== null;
    },
  };
}

/** Projects by name from the hash of their records, always with the default one. */
export function toProjects(records: Record<string, string>): Project[] {
  const found = Object.values(records).map(readProject);
  if (!found.some(({ name }) => name === DEFAULT_PROJECT)) found.push(theDefault());
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function storedBytes({ redis, keys }: StoreContext): Promise<ReadonlyMap<string, number>> {
  const sums = await guarded(redis.hgetall(`${keys.root}:bytes`));
  return new Map(Object.entries(sums).map(([name, bytes]) => [name, Math.max(0, Number(bytes))]));
}

function readProject(text: string): Project {
  return inKnownLayout('project', JSON.parse(text) as Project);
}

function theDefault(): Project {
  return newProject({ name: DEFAULT_PROJECT }, 0);
}
