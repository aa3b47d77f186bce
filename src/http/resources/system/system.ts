import { counted } from 'echelon-verify/text/plural';
import { EchelonError } from '../../../core/errors.ts';
import type { System } from '../../../schemas/system.ts';
import { isLeapt, LEAPT } from '../../../store/clock/judge.ts';
import type { Store } from '../../../store/store.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

type Check = System['checks'][number];

/** GET /v1/system. */
export function addSystem(app: App, { store, settings }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/system',
    operationId: 'getSystem',
    scope: 'admin',
    summary: 'Check the installation',
    description: 'Each check says what was found and, if something is wrong, what to do.',
    tag: 'service',
    answer: 'System',
    handler: async (): Promise<System> => ({
      version: settings.version,
      checks: [...(await storeChecks(store)), ...(await workChecks(store)), ...(await clusterChecks(store))],
    }),
  });
}

/** A check whose remedy is only said if it fails. */
const check = (name: string, ok: boolean, found: string, remedy: string): Check => ({
  name,
  ok,
  found,
  remedy: ok ? '' : remedy,
});

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6).toLocaleString('en-US')} MB`;

async function storeChecks(store: Store): Promise<Check[]> {
  const [memory, fault, { correction }] = await Promise.all([
    store.pressure(),
    store.checkFitness().then(
      () => null,
      (error: unknown) => {
        if (error instanceof EchelonError && error.code === 'store-misconfigured') return error.message;
        throw error;
      },
    ),
    store.clock.read(),
  ]);
  const used = `${megabytes(memory.usedBytes)} of ${megabytes(memory.maxBytes)}`;
  return [
    check(
      'Redis memory',
      memory.accepting,
      memory.accepting ? used : `${used}: no new experiment is accepted`,
      'Raise maxmemory, delete old experiments, or shorten the retention of projects.',
    ),
    check(
      'Redis persistence',
      fault === null,
      fault ?? 'every write is on disk before it is acknowledged',
      'Change redis.conf as stated, and restart Redis.',
    ),
    check(
      'Clock',
      !isLeapt(correction),
      isLeapt(correction) ? LEAPT : 'steady',
      'Confirm it with `echelon clock confirm` once it is right.',
    ),
  ];
}

async function workChecks(store: Store): Promise<Check[]> {
  const [leases, unverified, unarchived] = await Promise.all([
    store.attempts.leases(),
    store.batches.backlog(),
    store.archive.backlog(),
  ]);
  return [
    check(
      'Dispatchers',
      leases.expired === 0,
      leases.expired === 0
        ? `they follow ${counted(leases.held, 'attempt')}`
        : `none follows ${counted(leases.expired, 'attempt')}`,
      'Start a dispatcher that reaches the clusters of these attempts; their trainings continue meanwhile.',
    ),
    check(
      'Batches to verify',
      unverified < MANY,
      counted(unverified, 'batch', 'batches'),
      'Add dispatchers, or raise ECHELON_VERIFY_PROCESSES.',
    ),
    check(
      'Experiments to archive',
      unarchived < MANY,
      counted(unarchived, 'experiment'),
      'See the log of the dispatchers: the archive refuses or delays writes.',
    ),
  ];
}

/** A backlog that dispatchers do not work off by themselves in minutes. */
const MANY = 1000;

async function clusterChecks(store: Store): Promise<Check[]> {
  const clusters = await store.clusters.list();
  if (clusters.length === 0)
    return [check('Clusters', false, 'none', 'Add one with `echelon clusters add`.')];
  return clusters.map(({ name, answering, address, rayVersion, rayWorkerVersion }) => {
    const versions = `Ray ${rayVersion ?? 'unknown'}, ray-worker ${rayWorkerVersion ?? 'unknown'}`;
    const isUp = answering === true;
    return check(
      `Cluster ${name}`,
      isUp,
      isUp ? versions : `does not answer at ${address}`,
      `Check that a dispatcher runs and reaches ${address}; \`echelon clusters\` says since when it does not answer.`,
    );
  });
}
