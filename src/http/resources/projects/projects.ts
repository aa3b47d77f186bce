import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { sees } from '../../../core/scopes.ts';
import {
  newProject,
  type Project,
  ProjectChange,
  ProjectInput,
  type ProjectView,
  viewOf,
} from '../../../schemas/project.ts';
import { strict } from '../../../schemas/strict.ts';
import type { ProjectRemoval } from '../../../store/access/contract.ts';
import type { StorePart } from '../../../store/store.ts';
import { projectNotFound } from '../../access/caller-projects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { CHANGE, CREATE, READ } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';

const ProjectParams = Type.Object({ name: Type.String({ description: 'Name of the project.' }) }, strict);

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
  app.get(
    '/v1/projects',
    {
      config: { policy: READ },
      schema: {
        operationId: 'listProjects',
        summary: 'List projects by name',
        description: 'A key that is bound to a project sees only that project.',
        tags: ['access'],
        response: { 200: { $ref: 'ProjectList#' }, ...problems() },
      },
    },
    async ({ caller }) => {
      const all = (await store.projects.list()).filter(({ name }) => sees(caller, name));
      return { items: await views(store, all) };
    },
  );

  app.get(
    '/v1/projects/:name',
    {
      config: { policy: { ...READ, concurrency: 'project' } },
      schema: {
        operationId: 'getProject',
        summary: 'Get a project',
        tags: ['access'],
        params: ProjectParams,
        response: { 200: { $ref: 'Project#' }, ...problems('project-not-found') },
      },
    },
    async ({ caller, params: { name } }) => {
      const project = sees(caller, name) ? await store.projects.get(name) : undefined;
      if (project === undefined) throw projectNotFound(name);
      return (await views(store, [project]))[0]!;
    },
  );
}

/** Projects with what they store. */
async function views(
  store: StorePart<'projects.storedBytes' | 'pressure'>,
  projects: readonly Project[],
): Promise<ProjectView[]> {
  const [stored, { projectBytes }] = await Promise.all([store.projects.storedBytes(), store.pressure()]);
  return projects.map((project) => viewOf(project, { stored, projectBytes }));
}

function addCreate(app: App, { store, clock }: RouteDeps): void {
  app.post(
    '/v1/projects',
    {
      config: { policy: { ...CREATE, scope: 'admin' } },
      schema: {
        operationId: 'createProject',
        summary: 'Create a project',
        description:
          'The name cannot be changed later; weight, quotas and retention can. The limit is 1,000 projects.',
        tags: ['access'],
        body: ProjectInput,
        response: {
          201: {
            description: 'Created.',
            headers: { Location: { type: 'string', description: 'Path of the project.' } },
            content: { 'application/json': { schema: { $ref: 'Project#' } } },
          },
          ...problems('project-exists', 'limit-reached'),
        },
      },
    },
    async (request, reply) => {
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
  );
}

function addChange(app: App, { store }: RouteDeps): void {
  app.patch(
    '/v1/projects/:name',
    {
      config: { policy: { ...CHANGE, scope: 'admin', concurrency: 'project' } },
      schema: {
        operationId: 'changeProject',
        summary: 'Change the weight, a quota or the retention of a project',
        description: 'Omitted fields do not change. The change applies from the next scheduling round.',
        tags: ['access'],
        params: ProjectParams,
        body: ProjectChange,
        response: {
          200: { $ref: 'Project#' },
          ...problems('project-not-found'),
        },
      },
    },
    async (request) => {
      const { name } = request.params;
      const project = await store.projects.change(name, request.body, request.readRevision);
      if (project === undefined) throw projectNotFound(name);
      await store.wake('queue');
      return (await views(store, [project]))[0]!;
    },
  );
}

const BUSY: Readonly<Record<Exclude<ProjectRemoval, 'removed' | 'absent'>, string>> = {
  experiments: 'has experiments; delete them first',
  sweeps: 'has sweeps',
  keys: 'has keys that are valid; revoke them first',
};

function addRemove(app: App, { store, clock }: RouteDeps): void {
  app.delete(
    '/v1/projects/:name',
    {
      config: { policy: { ...CHANGE, scope: 'admin', concurrency: 'project' } },
      schema: {
        operationId: 'removeProject',
        summary: 'Remove a project without experiments, sweeps and valid API keys',
        description: 'The project `default` cannot be removed.',
        tags: ['access'],
        params: ProjectParams,
        response: {
          204: { type: 'null', description: 'Removed.' },
          ...problems('project-not-found', 'project-busy'),
        },
      },
    },
    async (request, reply) => {
      const { name } = request.params;
      const removal = await store.projects.remove(name, clock.now(), request.readRevision);
      if (removal === 'absent') {
        if ((await store.projects.get(name)) === undefined) throw projectNotFound(name);
        throw new EchelonError('project-busy', `The project ${name} is always there.`);
      }
      if (removal !== 'removed') {
        throw new EchelonError('project-busy', `The project ${name} ${BUSY[removal]}.`);
      }
      return reply.code(204).send(null);
    },
  );
}
