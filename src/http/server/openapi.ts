import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { TSchema } from 'typebox';
import { allEngines } from '../../engines/registry.ts';
import * as recipes from '../../engines/verl-agent/recipe-schemas.ts';
import * as api from '../../schemas/api.ts';
import * as audit from '../../schemas/audit.ts';
import { AddCluster, Command } from '../../schemas/clusters.ts';
import { EventSchema } from '../../schemas/events.ts';
import { Experiment } from '../../schemas/experiment.ts';
import * as key from '../../schemas/key.ts';
import * as preset from '../../schemas/preset.ts';
import * as project from '../../schemas/project.ts';
import * as records from '../../schemas/records.ts';
import { RetentionPreview } from '../../schemas/retention.ts';
import * as rules from '../../schemas/rules.ts';
import * as streams from '../../schemas/streams.ts';
import * as sweep from '../../schemas/sweep.ts';
import type { App, Limits, RouteDeps } from './deps.ts';
import { finishDocument, type OpenApi } from './openapi-document.ts';
import { READ } from './policy.ts';

const SHARED: readonly TSchema[] = [
  Experiment,
  AddCluster,
  Command,
  RetentionPreview,
  EventSchema,
  ...[api, streams, sweep, preset, rules, project, key, audit, records, recipes]
    .flatMap((schemas) => Object.values<unknown>(schemas))
    .filter(isShared),
];

/** A schema that answers refer to by its name. */
function isShared(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && '$id' in value;
}

const description = (
  limits: Limits,
): string => `Echelon runs HGPO experiments on Ray clusters and recomputes every advantage batch.

Requests carry \`Authorization: Bearer <API key or token>\`; browsers sign in at /login. Each route names the scope that a key
needs (\`security\`). For a key that is bound to a project, what belongs to another is not there. Bodies are strict JSON: nothing is
coerced, dropped or filled in; unknown and duplicate keys are errors. Every error is a problem document (RFC 9457)
with a stable \`code\`, documented at \`/errors/{code}\`.

Lists are pages: send \`next\` of one as \`cursor\` of the following one, with the same filters, until it is null. Every
POST takes an \`Idempotency-Key\`, which belongs to its caller. One record answers an \`ETag\`. PATCH and DELETE with an
\`If-Match\` that no longer fits are answered 412; the ETag of what can be changed changes only with what people decide.
Of other records \`If-None-Match\` is answered 304.

Limits: a body of ${limits.bodyBytes / 1024} kB, headers of ${limits.headerBytes / 1024} kB, ${limits.requests} requests in ${limits.requestWindowMs / 1000} s and ${limits.streams} open
event streams for each key or token, ${limits.failedSignIns} failed sign-ins in a minute for each address and for each key that is tried. A request must have arrived within
${limits.requestTimeoutMs / 1000} s. A stream's client that has not taken what waits for it for ${limits.stallMs / 1000} s is cut and goes on with Last-Event-ID.`;

/** The OpenAPI 3.1 document at /openapi.json, made from the routes' own schemas, and its page at /docs. */
export async function addOpenApi(app: App, { settings, limits }: RouteDeps): Promise<void> {
  const engines = allEngines();
  for (const { schema, summary } of engines) app.addSchema({ ...schema, description: summary });
  for (const schema of SHARED) app.addSchema(schema);
  app.addSchema(anySpec(engines));
  const optionalBodies = collectOptionalBodies(app);
  await app.register(swagger, {
    // The document says of every body that it is required.
    transformObject(made) {
      // A copy: parts of it are the schemas by which requests are checked.
      const document = JSON.parse(
        JSON.stringify((made as { openapiObject: OpenApi }).openapiObject),
      ) as OpenApi;
      for (const [path, method] of optionalBodies) {
        const body = document.paths[path]?.[method]?.requestBody;
        if (body) body.required = false;
      }
      finishDocument(document);
      return document as never;
    },
    openapi: documentHead(settings.version, limits),
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, index) =>
        typeof json.$id === 'string' ? json.$id : `schema-${index}`,
    },
  });
  await addPage(app);
}

/** The schema of what a person submits: one of the engines' specs. */
function anySpec(engines: ReturnType<typeof allEngines>): object {
  return {
    $id: 'ExperimentSpec',
    description: 'What a person submits; `engine` says which one of these.',
    oneOf: engines.map(({ schema }) => ({ $ref: `${schema.$id}#` })),
    discriminator: {
      propertyName: 'engine',
      // Without it, generated clients take the schemas' names for the values.
      mapping: Object.fromEntries(
        engines.map(({ name, schema }) => [name, `#/components/schemas/${schema.$id}`]),
      ),
    },
  };
}

/** What the document says beside the routes. */
function documentHead(version: string, limits: Limits) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Echelon',
      description: description(limits),
      version,
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: [
      { name: 'experiments', description: 'Submit, read, cancel' },
      { name: 'sweeps', description: 'One spec, many values' },
      { name: 'streams', description: 'What an experiment reports' },
      { name: 'verification', description: 'What was found of its advantages' },
      { name: 'recipes', description: "verl-agent's recipes, and presets of the paper's tables" },
      { name: 'queue', description: 'The line and the clusters' },
      { name: 'clusters', description: 'Ray clusters: add, drain, remove' },
      { name: 'access', description: 'Projects, API keys, the audit log' },
      { name: 'service', description: 'This program itself' },
    ],
    components: {
      securitySchemes: {
        token: {
          type: 'http' as const,
          scheme: 'bearer',
          description: 'An API key, or a token of the configuration',
        },
        session: { type: 'apiKey' as const, in: 'cookie', name: 'echelon_session' },
      },
    },
  };
}

/** The page at /docs. */
async function addPage(app: App): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, policy: READ, page: true };
    });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      // No badge: it would ask a server elsewhere.
      uiConfig: { validatorUrl: null, deepLinking: true },
    });
  });
}

/** Path and method of the routes whose body may be left out: those that state its schema by media type. */
function collectOptionalBodies(app: App): [path: string, method: string][] {
  const found: [string, string][] = [];
  app.addHook('onRoute', ({ url, method, schema }) => {
    const body = schema?.body as { content?: object } | undefined;
    if (body?.content) found.push([url.replace(/:(\w+)/g, '{$1}'), String(method).toLowerCase()]);
  });
  return found;
}
