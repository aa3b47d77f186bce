import { randomUUID } from 'node:crypto';
import cookie from '@fastify/cookie';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { LogController } from 'fastify';
import { createCallers } from './access/callers.ts';
import { createSessions } from './access/sessions.ts';
import { addAllocations } from './resources/allocations/allocations.ts';
import { addAuditLog } from './resources/audit/audit.ts';
import { addCaller } from './resources/caller/caller.ts';
import { addClock } from './resources/clock/clock.ts';
import { addClusterPreflight, addClusters } from './resources/clusters/clusters.ts';
import { addClusterNodes } from './resources/clusters/nodes.ts';
import { addClusterPauses } from './resources/clusters/pauses.ts';
import { addClusterSlurm } from './resources/clusters/slurm.ts';
import { addCommands } from './resources/commands/commands.ts';
import { addComparisons } from './resources/comparisons/comparisons.ts';
import { addErrorPages } from './resources/errors/errors.ts';
import { addFeeds } from './resources/events/feeds.ts';
import { addArtifacts } from './resources/experiments/artifacts.ts';
import { addAttempts } from './resources/experiments/attempts.ts';
import { addBatchRows } from './resources/experiments/batch-rows.ts';
import { addBatches } from './resources/experiments/batches.ts';
import { addBundles } from './resources/experiments/bundles.ts';
import { addChange } from './resources/experiments/change.ts';
import { addEvents } from './resources/experiments/events.ts';
import { addExperiments } from './resources/experiments/experiments.ts';
import { addGames } from './resources/experiments/games.ts';
import { addLogs } from './resources/experiments/logs.ts';
import { addMetrics } from './resources/experiments/metrics.ts';
import { addSignal } from './resources/experiments/signal.ts';
import { addStepTokens } from './resources/experiments/step-tokens.ts';
import { addVerification } from './resources/experiments/verification.ts';
import { addHealth } from './resources/health/health.ts';
import { addKeys } from './resources/keys/keys.ts';
import { addLogin, addLoginLinks } from './resources/login/login.ts';
import { addOidc } from './resources/login/oidc.ts';
import { addPlans } from './resources/plans/plans.ts';
import { addPreflight } from './resources/preflight/preflight.ts';
import { addPresets } from './resources/presets/presets.ts';
import { addPresetSubmit } from './resources/presets/submit.ts';
import { addProjects } from './resources/projects/projects.ts';
import { addRetention } from './resources/projects/retention.ts';
import { addQueuePauses } from './resources/queues/pauses.ts';
import { addQueues } from './resources/queues/queues.ts';
import { addWhatIf } from './resources/queues/what-if.ts';
import { addRecipes } from './resources/recipes/recipes.ts';
import { addRules } from './resources/rules/rules.ts';
import { addRuns } from './resources/runs/runs.ts';
import { addSubscriptions } from './resources/subscriptions/subscriptions.ts';
import { addSweepSeries } from './resources/sweeps/series.ts';
import { addSweeps } from './resources/sweeps/sweeps.ts';
import { addSystem } from './resources/system/system.ts';
import { addUsage } from './resources/usage/usage.ts';
import { addVerify } from './resources/verify/verify.ts';
import { addAudit } from './server/audit.ts';
import { addAuth, addScopes } from './server/auth.ts';
import { addBoard } from './server/board.ts';
import { addBodyParsers } from './server/body.ts';
import { addDashboard } from './server/dashboard.ts';
import { type App, type AppDeps, DEFAULT_LIMITS, type RouteDeps } from './server/deps.ts';
import { addErrors, answerClientError, answerProblem } from './server/errors.ts';
import { addEtags } from './server/etag.ts';
import { addIdempotency } from './server/idempotency.ts';
import { addLimits } from './server/limits.ts';
import { createOnDemand } from './server/on-demand.ts';
import { addOpenApi } from './server/openapi.ts';
import { releaseOwnFolder } from './server/own-folder.ts';
import { addPolicies, READ } from './server/policy.ts';
import { addSecurity } from './server/security.ts';
import { withDeadline } from './server/store-deadline.ts';
import { createStreams } from './server/streams.ts';
import { addValidation } from './server/validation.ts';

/**
 * The whole API over a store: it writes intent, reads state and never waits on a cluster. The caller listens and
 * closes; closing ends open event streams. Hooks run in the order in which they are added here: who asks under which
 * name, with which token, how often, whether it may, with what body.
 */
export async function createApp(input: AppDeps): Promise<App> {
  const limits = { ...DEFAULT_LIMITS, ...input.settings.limits };
  const store = withDeadline(input.store, limits.storeTimeoutMs);
  const { settings, clock } = input;
  const callers = createCallers({ store, tokens: settings.tokens, clock });
  const onDemand = createOnDemand(limits.recomputations, limits.handlerTimeoutMs);
  const deps: RouteDeps = { ...input, limits, store, callers, onDemand };
  if (settings.cookieSecret.length < 32) throw new TypeError('cookieSecret must have 32 characters or more');
  const sessions = createSessions(settings.cookieSecret);

  const app = createServer(deps);
  addPolicies(app, limits.handlerTimeoutMs);
  // Files for the store and the archive are left, however many connections come.
  app.server.maxConnections = limits.connections;
  addBoundedClose(app);
  app.addHook('onClose', async () => callers.close());
  app.addHook('onClose', releaseOwnFolder);
  addErrors(app);
  addValidation(app);
  await app.register(cookie);
  addSecurity(app, settings);
  const onFailure = await addLimitsAfterAuth(app, deps, sessions);
  addScopes(app);
  addStoreFaults(app, deps);
  addAudit(app, deps);
  addBodyParsers(app);
  addAccessLog(app, deps);
  addIdempotency(app, deps);
  addEtags(app, deps);
  await addOpenApi(app, deps);

  await addRoutes(app, deps, { sessions, onFailure });
  await addBoard(app, deps.queue.queues);
  return app;
}

async function addRoutes(app: App, deps: RouteDeps, signIn: Parameters<typeof addLogin>[2]): Promise<void> {
  await app.register(async (scope) => {
    const routes = scope as unknown as App;
    addHealth(routes, deps);
    addClock(routes, deps);
    addLogin(routes, deps, signIn);
    addLoginLinks(routes, deps, signIn.sessions);
    if (deps.settings.oidc) addOidc(routes, deps, deps.settings.oidc, signIn);
    addErrorPages(routes);
    addExperiments(routes, deps);
    addSweepRoutes(routes, deps);
    const streams = createStreams(routes, deps);
    addEvents(routes, deps, streams);
    addFeeds(routes, deps, streams);
    addMetrics(routes, deps);
    addLogs(routes, deps, streams);
    addRuns(routes, deps);
    addVerificationRoutes(routes, deps);
    addAttempts(routes, deps);
    addArtifacts(routes, deps);
    addGames(routes, deps);
    addRecipes(routes);
    addPlans(routes, deps);
    addPreflight(routes, deps);
    addPresets(routes);
    addPresetSubmit(routes, deps);
    addAllocations(routes, deps);
    addSystem(routes, deps);
    addUsage(routes, deps);
    addQueues(routes, deps);
    addWhatIf(routes, deps);
    addQueuePauses(routes, deps);
    addChange(routes, deps);
    addRetention(routes, deps);
    addClusterRoutes(routes, deps);
    addCommands(routes, deps);
    addSubscriptions(routes, deps);
    addAccess(routes, deps);
    addPages(routes);
  });
}

/** Clusters, their nodes, and their preflight checks. */
function addClusterRoutes(routes: App, deps: RouteDeps): void {
  addClusters(routes, deps);
  addClusterPauses(routes, deps);
  addClusterSlurm(routes, deps);
  addClusterNodes(routes, deps);
  addClusterPreflight(routes, deps);
}

/** Sweeps, and the comparisons that are made of them. */
function addSweepRoutes(routes: App, deps: RouteDeps): void {
  addSweeps(routes, deps);
  addSweepSeries(routes, deps);
  addComparisons(routes, deps);
}

/** Batches, their reports, and the rules that read them. */
function addVerificationRoutes(routes: App, deps: RouteDeps): void {
  addVerification(routes, deps);
  addBatchRows(routes, deps);
  addStepTokens(routes, deps);
  addBundles(routes, deps);
  addVerify(routes, deps);
  addRules(routes, deps);
  addBatches(routes, deps);
  addSignal(routes, deps);
}

/** Who may do what, and who did. */
function addAccess(app: App, deps: RouteDeps): void {
  addProjects(app, deps);
  addKeys(app, deps);
  addCaller(app, deps);
  addAuditLog(app, deps);
}

function createServer({ limits, log }: RouteDeps): App {
  return Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.connectionTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    clientErrorHandler: answerClientError,
    // A path that cannot be decoded never reaches a route or a hook.
    frameworkErrors: (error, request, reply) =>
      answerProblem(error, request, reply.header('x-content-type-options', 'nosniff')),
    // Long ids are answered like unknown ones.
    routerOptions: { maxParamLength: limits.headerBytes },
    http: {
      maxHeaderSize: limits.headerBytes,
      requestTimeout: limits.requestTimeoutMs,
      headersTimeout: limits.requestTimeoutMs,
      // Refused by our own list of names instead, with a problem document.
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(1000, limits.requestTimeoutMs),
    },
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App;
}

/** Closing waits this long for requests in hand; then every connection that is left is cut. */
const CLOSE_MS = 1500;

/** A connection that was opened and says nothing is not idle to Node: without an end, closing would wait for it. */
function addBoundedClose(app: App): void {
  app.addHook('preClose', async () => {
    setTimeout(() => app.server.closeAllConnections(), CLOSE_MS).unref();
  });
}

/** Limits count requests by token, so their hook runs after authentication; failed sign-ins also count, so their plugin comes first. */
async function addLimitsAfterAuth(app: App, deps: RouteDeps, sessions: ReturnType<typeof createSessions>) {
  let count: Parameters<typeof addAuth>[2]['onFailure'] = async () => {};
  const onFailure: typeof count = (request, token) => count(request, token);
  addAuth(app, deps, { sessions, onFailure });
  count = await addLimits(app, deps.limits);
  return onFailure;
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests of the API while the Redis must not be used: all of them if it is another one, and writes if it may
 * lose what it accepts.
 */
function addStoreFaults(app: App, { storeFault = () => null }: Pick<RouteDeps, 'storeFault'>): void {
  app.addHook('onRequest', async ({ method, url }) => {
    const fault = storeFault();
    if (fault === null || !url.startsWith('/v1/')) return;
    if (fault.code === 'store-foreign' || !READS.has(method)) throw fault;
  });
}

/** Health checks ask these every few seconds, so their successes are logged for debugging only. */
const HEALTH_CHECKS = new Set<string | undefined>(['/healthz', '/readyz']);

/** One line for each answer, with the route's pattern: a query may hold a login code. */
function addAccessLog(app: App, { onAnswered }: RouteDeps): void {
  app.addHook('onResponse', async (request, reply) => {
    const isHealthy = HEALTH_CHECKS.has(request.routeOptions.url) && reply.statusCode === 200;
    request.log[isHealthy ? 'debug' : 'info'](
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'answered',
    );
    onAnswered?.({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
      stream: String(reply.raw.getHeader('content-type') ?? '').startsWith('text/event-stream'),
    });
  });
}

function addPages(app: App): void {
  addDashboard(app);
  app.get('/openapi.json', { config: { policy: READ }, schema: { hide: true } }, async () => app.swagger());
}
