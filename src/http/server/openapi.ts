import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { TSchema } from 'typebox';
import { allEngines } from '../../engines/registry.ts';
import * as api from '../../schemas/api.ts';
import * as audit from '../../schemas/audit.ts';
import * as clusters from '../../schemas/clusters.ts';
import * as comparison from '../../schemas/comparison.ts';
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
import * as subscription from '../../schemas/subscription.ts';
import * as sweep from '../../schemas/sweep.ts';
import { System } from '../../schemas/system.ts';
import { Usage } from '../../schemas/usage.ts';
import { sessionCookie } from '../access/sessions.ts';
import type { App, AppSettings, Limits, RouteDeps } from './deps.ts';
import { documentSchema, type OpenApi, RATE_HEADERS } from './operation.ts';
import { READ } from './policy.ts';

const SHARED: readonly TSchema[] = [
  Experiment,
  RetentionPreview,
  System,
  Usage,
  EventSchema,
  ...[
    api,
    clusters,
    streams,
    sweep,
    preset,
    rules,
    runs,
    project,
    key,
    audit,
    records,
    comparison,
    subscription,
  ]
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

declare module 'fastify' {
  interface FastifyInstance {
    /** The document, to which each route adds its operation. */
    document: OpenApi;
  }
}

/** The OpenAPI 3.1 document at /openapi.json, to which the routes add their operations, and its page at /docs. */
export async function addOpenApi(app: App, { settings, limits }: RouteDeps): Promise<void> {
  const engines = allEngines();
  const schemas = [
    ...engines.map(({ schema, summary }) => ({ ...schema, description: summary })),
    ...SHARED,
    ...engines.flatMap(({ documentSchemas = [] }) => documentSchemas),
    anySpec(engines),
  ];
  const document = documentHead(settings, limits);
  documentSchema(document, schemas);
  app.decorate('document', document);
  await app.register(swagger, { mode: 'static', specification: { document: document as never } });
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
function documentHead(
  { version, publicUrl }: AppSettings,
  limits: Limits,
): OpenApi & Record<string, unknown> {
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
      { name: 'comparisons', description: 'Compare methods by a plan that is fixed before the runs' },
      { name: 'streams', description: 'Events, metrics and logs of experiments' },
      { name: 'verification', description: 'Verification reports, batches and rules' },
      { name: 'recipes', description: "Recipes of verl-agent, and presets for the paper's tables" },
      { name: 'queue', description: 'The queue of experiments' },
      { name: 'clusters', description: 'Add, drain and remove Ray clusters' },
      { name: 'notifications', description: 'Send events of a project to webhooks, chats and e-mail' },
      { name: 'access', description: 'Projects, API keys and the audit log' },
      { name: 'service', description: 'Health, sign-in and documentation' },
    ],
    paths: {},
    components: {
      headers: RATE_HEADERS,
      parameters: {},
      responses: {},
      schemas: {},
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
