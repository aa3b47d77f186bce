import { newExperimentId } from '../../../src/core/ids.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import type { ExperimentsQueue } from '../../../src/queue/experiments-queue.ts';
import { newProject, type Project } from '../../../src/schemas/project.ts';
import type { SubmitInput } from '../../../src/store/experiments/types.ts';
import type { Store } from '../../../src/store/store.ts';

/** What is submitted over HTTP and below it. */
export const SPEC = { engine: 'local', name: 'bench', estimator: { name: 'hgpo' } } as const;

/** A driver that outlives every bench; infinity does not travel in JSON. */
export const ENDLESS = { steps: 1e9 } as const;

/** Calls of the store that are under way at a time: one write and one fsync for many of them. */
const IN_FLIGHT = 500;

const { spec, defaults } = resolveSpec(SPEC);

/** A new experiment of a project, as the api hands it to the store. */
export function inputOf(project: string, gpus = 0): SubmitInput {
  const { name, priority, cluster, resources } = spec;
  return {
    id: newExperimentId(),
    project,
    name,
    priority,
    cluster,
    cpus: resources.cpus,
    gpus,
    submitted: SPEC,
    resolved: spec,
    defaults,
    fingerprint: null,
    customCode: false,
  };
}

/** Queues `count` experiments over some projects by the store's own step, each with its job. Gives their ids. */
export async function fill(
  { store, queue }: { store: Store; queue: Pick<ExperimentsQueue, 'enqueue'> },
  count: number,
  { projects = ['default'], gpus = 0 }: { projects?: readonly string[]; gpus?: number } = {},
): Promise<string[]> {
  const ids: string[] = [];
  let adding: Promise<void> = Promise.resolve();
  for (let at = 0; at < count; at += IN_FLIGHT) {
    const inputs = Array.from({ length: Math.min(IN_FLIGHT, count - at) }, (_input, index) =>
      inputOf(projects[(at + index) % projects.length]!, gpus),
    );
    await Promise.all(inputs.map((input) => store.experiments.submit(input)));
    await adding;
    const added = inputs.map(({ id }) => id);
    adding = queue.enqueue(added); // while the next ones are submitted
    ids.push(...added);
  }
  await adding;
  return ids;
}

/** Names of `count` projects that exist once this has returned. */
export async function makeProjects(store: Store, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_project, at) => `project-${at}`);
  for (const name of names) await store.projects.create(projectOf(name));
  return names;
}

/** A project without a quota; its data expires as `retention` says, or by default. */
export function projectOf(name: string, retention: Project['retention'] = null): Project {
  return { ...newProject({ name }, Date.now()), retention };
}
