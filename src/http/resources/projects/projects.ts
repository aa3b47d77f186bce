import { EchelonError } from '../../../core/errors.ts';
import { sees } from '../../../core/scopes.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import {
  newProject,
  type Project,
  ProjectChange,
  ProjectInput,
  type ProjectView,
  viewOf,
} from '../../../schemas/project.ts';
import type { ProjectRemoval } from '../../../store/access/projects.ts';
import type { Store } from '../../../store/store.ts';
import { projectNotFound, projectOf } from '../../access/caller-projects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { revisionToChange } from '../../server/etag.ts';
import { located } from '../../server/operation.ts';
import { route } from '../../server/route.ts';

const ProjectParams = StrictObject({ name: Text('Name of the project.') });

/** Projects at most. */
const MAX_PROJECTS = 1000;

/** GET and POST /v1/projects; GET, PATCH and DELETE one. */
export function addProjects(app: App, deps: RouteDeps): void {
  addReads(app, deps);
  addCreate(app, deps);
  addChange(app, deps);
  addRemove(app, deps);
}

function addReads(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/projects',
    operationId: 'listProjects',
    summary: 'List projects by name',
    description: 'A key that is bound to a project sees only that project.',
    tag: 'access',
    answer: 'ProjectList',
    handler: async ({ caller }) => {
      const all = (await store.projects.list()).filter(({ name }) => sees(caller, name));
      return { items: await views(store, all) };
    },
  });

  route(app, {
    at: 'GET /v1/projects/:name',
    operationId: 'getProject',
    concurrency: 'project',
    summary: 'Get a project',
    tag: 'access',
    params: ProjectParams,
    answer: 'Project',
    problems: ['project-not-found'],
    handler: async ({ caller, params: { name } }) => {
      const project = await projectOf(store, caller, name);
      return (await views(store, [project]))[0]!;
    },
  });
}

/** Projects with what they store. */
async function views(store: Store, projects: readonly Project[]): Promise<ProjectView[]> {
  const [stored, { projectBytes }] = await Promise.all([store.projects.storedBytes(), store.pressure()]);
  return projects.map((project) => viewOf(project, { stored, projectBytes }));
}

function addCreate(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/projects',
    operationId: 'createProject',
    scope: 'admin',
    summary: 'Create a project',
    description:
      'The name cannot be changed later; weight, quotas and retention can. The limit is 1,000 projects.',
    tag: 'access',
    body: ProjectInput,
    answers: { 201: located('Created.', 'Project', 'Path of the project.') },
    problems: ['project-exists', 'limit-reached'],
    handler: async (request, reply) => {
      const project: Project = newProject(request.body, clock.now());
      if ((await store.projects.list()).length >= MAX_PROJECTS) {
        throw new EchelonError(
          'limit-reached',
          `There are ${MAX_PROJECTS} projects, the most; remove one first.`,
        );
      }
      if (!(await store.projects.create(project))) {
        throw new EchelonError('project-exists', `There is a project ${project.name} already.`);
      }
      return reply
        .code(201)
        .header('location', `/v1/projects/${project.name}`)
        .send((await views(store, [project]))[0]!);
    },
  });
}

function addChange(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'PATCH /v1/projects/:name',
    operationId: 'changeProject',
    scope: 'admin',
    concurrency: 'project',
    summary: 'Change the weight, a quota or the retention of a project',
    description: 'Omitted fields do not change. The change applies from the next scheduling round.',
    tag: 'access',
    params: ProjectParams,
    body: ProjectChange,
    answer: 'Project',
    problems: ['project-not-found'],
    handler: async (request) => {
      const { name } = request.params;
      await projectOf(store, request.caller, name);
      const revision = await revisionToChange(store, request, { kind: 'project', name });
      const project = await store.projects.change(name, request.body, revision);
      if (project === undefined) throw projectNotFound(name);
      await store.wake('queue');
      return (await views(store, [project]))[0]!;
    },
  });
}

const BUSY: Readonly<Record<Exclude<ProjectRemoval, 'removed' | 'absent'>, string>> = {
  experiments: 'has experiments; delete them first',
  sweeps: 'has sweeps',
  keys: 'has keys that are valid; revoke them first',
};

function addRemove(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'DELETE /v1/projects/:name',
    operationId: 'removeProject',
    scope: 'admin',
    concurrency: 'project',
    summary: 'Remove a project without experiments, sweeps and valid API keys',
    description: 'The project `default` cannot be removed.',
    tag: 'access',
    params: ProjectParams,
    answers: {
      204: { type: 'null', description: 'Removed.' },
    },
    problems: ['project-not-found', 'project-busy'],
    handler: async (request, reply) => {
      const { name } = request.params;
      await projectOf(store, request.caller, name);
      const revision = await revisionToChange(store, request, { kind: 'project', name });
      const removal = await store.projects.remove(name, clock.now(), revision);
      if (removal === 'absent') {
        if ((await store.projects.get(name)) === undefined) throw projectNotFound(name);
        throw new EchelonError('project-busy', `The project ${name} is always there.`);
      }
      if (removal !== 'removed') {
        throw new EchelonError('project-busy', `The project ${name} ${BUSY[removal]}.`);
      }
      return reply.code(204).send(null);
    },
  });
}
