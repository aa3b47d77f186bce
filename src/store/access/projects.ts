import { EchelonError } from '../../core/errors.ts';
import { DEFAULT_PROJECT, newProject, type Project } from '../../schemas/project.ts';
import { migrated } from '../experiments/migrate.ts';
import { unlessChanged } from '../experiments/versions.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded } from '../redis/errors.ts';
import type { AccessStore, ProjectRemoval } from './contract.ts';

type Projects = Pick<
  AccessStore,
  'projects' | 'project' | 'adoptProjects' | 'createProject' | 'changeProject' | 'removeProject' | 'isIn'
>;

/** EchelonError `invalid-spec` with `field`: what names a project that was removed since it was looked up. */
export function projectRemoved(field: string): EchelonError {
  const problems = [{ field, message: 'is not the name of a project; it was removed meanwhile' }];
  return new EchelonError('invalid-spec', 'Its project is not there any more.', { problems });
}

/** Projects: one hash, a project (JSON) by name. */
export function createProjects(context: StoreContext): Projects {
  const { redis, keys, run } = context;
  const hash = `${keys.root}:projects`;

  const swap = async (name: string, from: string | null, to: Project, version = ''): Promise<boolean> => {
    const args = ['projects', name, from ?? '', JSON.stringify(to), '', version];
    return (await unlessChanged(run('swap-access', args))) === 1;
  };

  return {
    async projects() {
      return toProjects(await guarded(redis.hgetall(hash)));
    },

    async project(name) {
      const text = await guarded(redis.hget(hash, name));
      if (text !== null) return migrated('project', JSON.parse(text) as Project);
      return name === DEFAULT_PROJECT ? theDefault() : undefined;
    },

    async adoptProjects(now) {
      const done = `${hash}:adopted`;
      if ((await guarded(redis.exists(done))) === 1) return;
      for (const name of await namesInUse(context)) {
        if (name !== DEFAULT_PROJECT) await swap(name, null, newProject({ name }, now));
      }
      try {
        await guarded(redis.set(done, String(now)));
      } catch (error) {
        // An api starts at a full store too; the next start looks again.
        if (!(error instanceof EchelonError) || error.code !== 'store-full') throw error;
      }
    },

    async createProject(project) {
      return project.name !== DEFAULT_PROJECT && (await swap(project.name, null, project));
    },

    async changeProject(name, change, version) {
      for (;;) {
        const text = await guarded(redis.hget(hash, name));
        if (text === null && name !== DEFAULT_PROJECT) return undefined;
        const before = text === null ? theDefault() : migrated('project', JSON.parse(text) as Project);
        const after = { ...before, ...change };
        if (await swap(name, text, after, version)) return after;
      }
    },

    async removeProject(name, now, version = '') {
      return (await unlessChanged(
        run('remove-project', [name, now, version, DEFAULT_PROJECT]),
      )) as ProjectRemoval;
    },

    async isIn(project, id) {
      const index = id.startsWith('swp-') ? `${keys.root}:sweeps:${project}` : keys.index({ project });
      return (await guarded(redis.zscore(index, id))) !== null;
    },
  };
}

/** Names of the projects that have an index of experiments or sweeps. */
async function namesInUse({ redis, keys }: StoreContext): Promise<Set<string>> {
  const names = new Set<string>();
  for (const prefix of [`${keys.root}:project:`, `${keys.root}:sweeps:`]) {
    let cursor = '0';
    do {
      const [next, found] = await guarded(redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1000));
      for (const key of found) names.add(key.slice(prefix.length));
      cursor = next;
    } while (cursor !== '0');
  }
  return names;
}

/** Projects by name, from the hash of their records; the default one is always among them. */
export function toProjects(records: Record<string, string>): Project[] {
  const found = Object.values(records).map((text) => migrated('project', JSON.parse(text) as Project));
  if (!found.some(({ name }) => name === DEFAULT_PROJECT)) found.push(theDefault());
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function theDefault(): Project {
  return newProject({ name: DEFAULT_PROJECT }, 0);
}
