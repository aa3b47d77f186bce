import { type Static, Type } from 'typebox';
import { CountOf, nullable } from './answer-parts.ts';
import { NamedObject, StrictObject } from './objects.ts';
import { Retention } from './retention.ts';
import { Name } from './spec-parts.ts';

/** Layout version of stored projects. */
const PROJECT_VERSION = 1;

/** The project that is always there. */
export const DEFAULT_PROJECT = 'default';

const Weight = Type.Number({
  exclusiveMinimum: 0,
  maximum: 1000,
  description: "Weight of the project's GPU share relative to other projects at equal priority.",
});
const GpuQuota = nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
  description: 'Maximum number of GPUs allocated to the project at a time; null means no limit.',
});
const UrgentGpuQuota = nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }), {
  description:
    'Maximum number of GPUs allocated to `urgent` experiments of the project at a time; null means no limit, 0 that none are accepted. Default: 0.',
});
const StoreQuota = nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), {
  description:
    'Maximum number of bytes that the project stores in Redis; null means half of `maxmemory`. New work above it is refused; accepted experiments continue.',
});
const ProjectRetention = nullable(StrictObject(Retention.properties), {
  description: "How long the data of the project's experiments is retained; null means the defaults.",
});

/** A project: what keeps the experiments of one team apart from those of others. */
export const Project = StrictObject({
  version: Type.Literal(PROJECT_VERSION),
  name: Name,
  weight: Weight,
  gpuQuota: GpuQuota,
  urgentGpuQuota: UrgentGpuQuota,
  storeQuotaBytes: StoreQuota,
  retention: ProjectRetention,
  createdAt: Type.Integer({
    description: 'Time of creation in ms since 1970; 0 for the built-in project.',
  }),
});
export type Project = Static<typeof Project>;

/** A project with what it stores. */
export const ProjectView = NamedObject('Project', {
  ...Project.properties,
  storeBytes: CountOf(
    'Bytes that the project stores in Redis: records, live events and reports. What the archive has does not count.',
  ),
  storeLimitBytes: nullable(Type.Integer({ minimum: 0 }), {
    description: 'Its quota, or the quota of every project without one; null means no limit.',
  }),
});
export type ProjectView = Static<typeof ProjectView>;

/** What a project can be changed in. */
export const ProjectChange = NamedObject(
  'ProjectChange',
  {
    weight: Type.Optional(Weight),
    gpuQuota: Type.Optional(GpuQuota),
    urgentGpuQuota: Type.Optional(UrgentGpuQuota),
    storeQuotaBytes: Type.Optional(StoreQuota),
    retention: Type.Optional(ProjectRetention),
  },
  { minProperties: 1 },
);
export type ProjectChange = Static<typeof ProjectChange>;

/** The body of POST /v1/projects. */
export const ProjectInput = NamedObject('ProjectInput', { name: Name, ...ProjectChange.properties });
export type ProjectInput = Static<typeof ProjectInput>;

/** Projects, by name. */
export const ProjectList = NamedObject('ProjectList', {
  items: Type.Array(Type.Unsafe<ProjectView>({ $ref: 'Project#' })),
});

/** A project with what it was given, and defaults for the rest. */
export function newProject(
  { name, weight, gpuQuota, urgentGpuQuota, storeQuotaBytes, retention }: ProjectInput,
  createdAt: number,
): Project {
  return {
    version: PROJECT_VERSION,
    name,
    weight: weight ?? 1,
    gpuQuota: gpuQuota ?? null,
    urgentGpuQuota: urgentGpuQuota === undefined ? 0 : urgentGpuQuota,
    storeQuotaBytes: storeQuotaBytes ?? null,
    retention: retention ?? null,
    createdAt,
  };
}

/** A project with what it stores. `stored`: bytes by project; `projectBytes`: the limit without a quota; 0: none. */
export function viewOf(
  project: Project,
  { stored, projectBytes }: { stored: ReadonlyMap<string, number>; projectBytes: number },
): ProjectView {
  const limit = project.storeQuotaBytes ?? (projectBytes === 0 ? null : projectBytes);
  return { ...project, storeBytes: stored.get(project.name) ?? 0, storeLimitBytes: limit };
}
