import { X509Certificate } from 'node:crypto';
import { counted } from 'command-kit/plural';
import { EchelonError } from '../../../core/errors.ts';
import type { System } from '../../../schemas/system.ts';
import { isLeapt, LEAPT } from '../../../store/clock/judge.ts';
import type { Cluster } from '../../../store/clusters/types.ts';
import { RETENTION_LEASE_MS } from '../../../store/retention/retention.ts';
import type { Store } from '../../../store/store.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { findDispatchers } from '../../server/dispatchers.ts';
import { route } from '../../server/route.ts';

type Check = System['checks'][number];

/** GET /v1/system. */
export function addSystem(app: App, { store, settings, queue, clock }: RouteDeps): void {
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
      checks: [
        ...(await storeChecks(store)),
        await dispatcherCheck({ store, queue }),
        ...(await backlogChecks(store)),
        await retentionCheck(store),
        ...(await clusterChecks(store, clock.now())),
      ],
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
      'Confirm it with `echelon clock --confirm` once it is right.',
    ),
  ];
}

async function dispatcherCheck(deps: Pick<RouteDeps, 'store' | 'queue'>): Promise<Check> {
  const { connected, held, expired, present } = await findDispatchers(deps);
  const found = [
    ...(connected > 0 || !present ? [`${connected} connected`] : []),
    ...(held > 0 ? [`${counted(held, 'attempt')} followed`] : []),
    ...(expired > 0 ? [`${counted(expired, 'attempt')} not followed`] : []),
  ];
  return check(
    'Dispatchers',
    expired === 0 && present,
    found.join(', '),
    expired > 0
      ? 'Start a dispatcher that reaches the clusters of these attempts; their trainings continue meanwhile.'
      : 'Start one with `echelon dispatcher`: until then no experiment starts.',
  );
}

async function backlogChecks(store: Store): Promise<Check[]> {
  const [unverified, unarchived] = await Promise.all([store.batches.backlog(), store.archive.backlog()]);
  return [
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

/** A dispatcher that was killed holds the work of retention for minutes. */
async function retentionCheck(store: Store): Promise<Check> {
  const holder = await store.retention.holder();
  if (holder === null) return check('Retention', true, 'no dispatcher applies it now', '');
  const { dispatcher, leftMs } = holder;
  const late = RETENTION_LEASE_MS - leftMs > LATE_MS;
  const last = minutes(RETENTION_LEASE_MS - leftMs);
  return check(
    'Retention',
    !late,
    `applied by ${dispatcher}${late ? `, which was last heard of ${last} ago` : ''}`,
    `Nothing is deleted until it is heard of again, or another dispatcher takes over in ${minutes(leftMs)}.`,
  );
}

/** The holder renews its lease each half minute. */
const LATE_MS = 90_000;

const minutes = (ms: number) => counted(Math.ceil(ms / 60_000), 'minute');

/** A backlog that dispatchers do not work off by themselves in minutes. */
const MANY = 1000;

async function clusterChecks(store: Store, now: number): Promise<Check[]> {
  const clusters = await store.clusters.list();
  if (clusters.length === 0)
    return [check('Clusters', false, 'none', 'Add one with `echelon clusters add`.')];
  return clusters.flatMap((cluster) => [clusterCheck(cluster), ...certificateChecks(cluster, now)]);
}

function clusterCheck({ name, answering, address, rayVersion, rayWorkerVersion }: Cluster): Check {
  const isUp = answering === true;
  return check(
    `Cluster ${name}`,
    isUp,
    isUp
      ? `Ray ${rayVersion ?? 'unknown'}, ray-worker ${rayWorkerVersion ?? 'unknown'}`
      : `does not answer at ${address}`,
    `Check that a dispatcher runs and reaches ${address}; \`echelon clusters\` says since when it does not answer.`,
  );
}

/** Time before the end of a certificate in which an operator can replace it. */
const NOTICE_MS = 14 * 86_400_000;

/** The certificates by which dispatchers reach a cluster; the one that ends first decides. */
function certificateChecks({ name, ca, ray }: Cluster, now: number): Check[] {
  const texts = [ca, ray?.tls?.ca, ray?.tls?.cert].flatMap(
    (pem) => pem?.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [],
  );
  if (texts.length === 0) return [];
  const end = Math.min(...texts.map((text) => new X509Certificate(text).validToDate.getTime()));
  const day = new Date(end).toISOString().slice(0, 10);
  return [
    check(
      `Certificates of ${name}`,
      end - now > NOTICE_MS,
      end > now ? `valid until ${day}` : `expired on ${day}`,
      'Replace them on the cluster; then remove the cluster and add it with the new files, see `echelon clusters add --help`.',
    ),
  ];
}
