import { DEFAULT_PROJECT, newProject, type Project } from '../schemas/project.ts';
import type { AccessStore } from './access-store.ts';
import type { StoreContext } from './context.ts';
import { guarded } from './redis-errors.ts';

/** Projects: one hash, a project (JSON) by name. */
export function createProjects({
  redis,
  keys,
}: StoreContext): Pick<AccessStore, 'projects' | 'project' | 'projectOf'> {
  const hash = `${keys.root}:projects`;
  return {
    async projects() {
      const found = Object.values(await guarded(redis.hgetall(hash))).map(
        (text) => JSON.parse(text) as Project,
      );
      if (!found.some(({ name }) => name === DEFAULT_PROJECT))
        found.push(newProject({ name: DEFAULT_PROJECT }, 0));
      return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async project(name) {
      const text = await guarded(redis.hget(hash, name));
      if (text !== null) return JSON.parse(text) as Project;
      return name === DEFAULT_PROJECT ? newProject({ name }, 0) : undefined;
    },

    async projectOf(id) {
      const key = id.startsWith('swp-') ? `${keys.root}:sweep:${id}` : keys.experiment(id);
      return (await guarded(redis.hget(key, 'project'))) ?? undefined;
    },
  };
}
