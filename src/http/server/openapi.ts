import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { TSchema } from 'typebox';
import { allEngines } from '../../engines/registry.ts';
import * as api from '../../schemas/api.ts';
import * as audit from '../../schemas/audit.ts';
import { AddCluster, AllocationList, Command } from '../../schemas/clusters.ts';
import { EventSchema } from '../../schemas/events.ts';
import { Experiment } from '../../schemas/experiment.ts';
import * as key from '../../schemas/key.ts';
import * as preset from '../../schemas/preset.ts';
import * as project from '../../schemas/project.ts';
import * as records from '../../schemas/records.ts';
import { RetentionPreview } from '../../schemas/retention.ts';
import * as rules from '../../schemas/rules.ts';
import * as runs from '../../schemas/runs.ts';
import * as streams from '../../schemas/streams.ts';
import * as sweep from '../../schemas/sweep.ts';
import { sessionCookie } from '../access/sessions.ts';
import type { App, AppSettings, Limits, RouteDeps } from './deps.ts';
import { finishDocument, type OpenApi } from './openapi-document.ts';
import { READ } from './policy.ts';

const SHARED: readonly TSchema[] = [
  Experiment,
  AllocationList,
  AddCluster,
  Command,
  RetentionPreview,
  EventSchema,
  ...[api, streams, sweep, preset, rules, runs, project, key, audit, records]
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

Send \`Authorization: Bearer API_KEY\`, or sign in at /login in a browser. Each operation names the required scope
(\`security\`). A key that is bound to a project does not see resources of other projects. Bodies are strict JSON: unknown
and duplicate keys are errors, and no value is converted. Every error is a problem document (RFC 9457) with a stable
\`code\`, documented at \`/errors/{code}\`.

Lists are paged: send \`next\` of a page as \`cursor\` of the next request, with the same filters, until it is null. Every
POST accepts an \`Idempotency-Key\`, which is private to the caller. A single record has an \`ETag\`. PATCH and DELETE with an
outdated \`If-Match\` get 412. The ETag of a record that users can change is altered only by changes of users. Other
records support \`If-None-Match\` with 304.

Limits: ${limits.bodyBytes / 1024} kB for a body and ${limits.headerBytes / 1024} kB for headers. Each key or token may send ${limits.requests} requests in ${limits.requestWindowMs / 1000} s and open ${limits.streams} event
streams. Each address, and each key that is tried, may fail to sign in ${limits.failedSignIns} times a minute. A request must arrive within
${limits.requestTimeoutMs / 1000} s. If the client of an event stream reads nothing for ${limits.stallMs / 1000} s, the stream is closed; reconnect with Last-Event-ID.`;

/** The OpenAPI 3.1 document at /openapi.json, made from the routes' own schemas, and its page at /docs. */
export async function addOpenApi(app: App, { settings, limits }: RouteDeps): Promise<void> {
  const engines = allEngines();
  for (const { schema, summary } of engines) app.addSchema({ ...schema, description: summary });
  for (const schema of SHARED) app.addSchema(schema);
  for (const { documentSchemas = [] } of engines) for (const schema of documentSchemas) app.addSchema(schema);
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
    openapi: documentHead(settings, limits),
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
    description: 'Experiment spec. `engine` selects the schema.',
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
function documentHead({ version, publicUrl }: AppSettings, limits: Limits) {
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
      { name: 'experiments', description: 'Submit, read and cancel experiments' },
      { name: 'runs', description: 'Follow trainings that Echelon does not start' },
      { name: 'sweeps', description: 'Run one spec with many values' },
      { name: 'streams', description: 'Events, metrics and logs of experiments' },
      { name: 'verification', description: 'Verification reports, batches and rules' },
      { name: 'recipes', description: "Recipes of verl-agent, and presets for the paper's tables" },
      { name: 'queue', description: 'The queue of experiments' },
      { name: 'clusters', description: 'Add, drain and remove Ray clusters' },
      { name: 'access', description: 'Projects, API keys and the audit log' },
      { name: 'service', description: 'Health, sign-in and documentation' },
    ],
    components: {
      securitySchemes: {
        token: {
          type: 'http' as const,
          scheme: 'bearer',
          description: 'An API key, or a token from the settings',
        },
        session: { type: 'apiKey' as const, in: 'cookie', name: sessionCookie(publicUrl).name },
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

/** Path and method of the routes with an optional body: those that state its schema by media type. */
function collectOptionalBodies(app: App): [path: string, method: string][] {
  const found: [string, string][] = [];
  app.addHook('onRoute', ({ url, method, schema }) => {
    const body = schema?.body as { content?: object } | undefined;
    if (body?.content) found.push([url.replace(/:(\w+)/g, '{$1}'), String(method).toLowerCase()]);
  });
  return found;
}
