import { randomUUID } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';
import { boundNumbered } from '../../core/event-bounds.ts';
import type { Ended, NumberedEvent } from '../../core/events.ts';
import { RECORD_VERSION } from '../../schemas/experiment.ts';
import { canonicalJson } from '../../schemas/json.ts';
import type { Idempotency } from '../access/answers.ts';
import { digestOf } from '../archive/archive-keys.ts';
import { type RawEntry, readSegments } from '../archive/archive-segments.ts';
import { leaseArguments, leaseLost } from '../attempts/leases.ts';
import type { Lease } from '../attempts/types.ts';
import type { StoreContext } from '../context.ts';
import { toEntries } from '../events/events.ts';
import { type Admission, admissionLimits, admitted, quotaExceeded } from '../experiments/admission.ts';
import { guarded } from '../redis/errors.ts';
import type { Pressure } from '../redis/fitness.ts';

/** The input of a new external run. */
export interface OpenRunInput {
  id: string;
  project: string;
  /** The name of its caller. */
  owner?: string;
  name: string;
  submitted: unknown;
  resolved: unknown;
  defaults: string[];
  /** The lease token of its client: a new UUID. */
  token: string;
  /** The run ends if its client is silent for this time. */
  silenceMs: number;
  idempotency?: Idempotency;
}

/** A run whose client was silent for too long. Its lease is a new one: the client can write no more. */
interface SilentRun {
  lease: Lease;
  /** Recorded if only the end of the run's state is missing. */
  ended: Ended | null;
}

/** External runs: experiments that Echelon did not start. The client of a run holds the lease of its only attempt. */
export function createRuns(context: StoreContext, pressure: Pressure) {
  const { redis, keys, run } = context;
  return {
    /**
     * Record, lease and first event in one step, if the queue of its project is open and the project has fewer open runs than
     * it may (`limit-reached`); the experiment is `running`. `token`: of the run that has the id, empty
     * after its end. `created` is false for a repeated idempotency key.
     */
    open: (input: OpenRunInput) => open(context, pressure, input),

    /**
     * Notes that the client is not silent, before the events that it sends are appended. Throws `lease-lost` if the lease is
     * not that of an open run, `event-conflict` if one of the events is recorded with other content, and `quota-exceeded` if
     * its project would store more bytes than it may; a run whose last event is its end may always end.
     */
    async hear(lease: Lease, silenceMs: number, events: readonly NumberedEvent[] = []): Promise<void> {
      const { projectBytes } = await pressure.recent();
      const bytes = events.reduce(
        (sum, { event, data }) => sum + JSON.stringify(event).length + (data?.length ?? 0),
        0,
      );
      const args = [...leaseArguments(lease), silenceMs, projectBytes, bytes];
      const [outcome, last, used, bound] = (await run('hear-run', args)) as string[];
      if (outcome !== 'ok') throw leaseLost(lease);
      const repeated = events.filter(({ sequence }) => sequence <= Number(last));
      await refuseOther(context, lease, repeated);
      // A run over its quota may still end.
      const grows = events.length > repeated.length && events.at(-1)?.event.type !== 'ended';
      if (grows && bound !== undefined) throw quotaExceeded(used!, bound);
    },

    /**
     * The number of the last recorded event if all of these are recorded; null if one is not, or if there are none. Throws
     * `event-conflict` if one is recorded with other content.
     */
    async repeated(
      { experiment, attempt }: Omit<Lease, 'token'>,
      events: readonly NumberedEvent[],
    ): Promise<number | null> {
      const last = Number((await guarded(redis.hget(keys.attempts(experiment), `${attempt}:last`))) ?? 0);
      if (events.length === 0 || events.some(({ sequence }) => sequence > last)) return null;
      await refuseOther(context, { experiment, attempt }, events);
      return last;
    },

    /** Takes runs whose clients were silent for too long, or that are being cancelled. Their callers end them. */
    async takeSilent(limit: number): Promise<SilentRun[]> {
      const tokens = Array.from({ length: limit }, () => randomUUID());
      const reply = (await run('take-silent-runs', tokens)) as string[];
      return Array.from({ length: reply.length / 4 }, (_run, at) => {
        const [experiment, attempt, token, ended] = reply.slice(4 * at, 4 * at + 4) as [
          string,
          string,
          string,
          string,
        ];
        return {
          lease: { experiment, attempt: Number(attempt), token },
          ended: ended === '' ? null : (JSON.parse(ended) as Ended),
        };
      });
    },
  };
}

async function open(
  context: StoreContext,
  pressure: Pressure,
  {
    id,
    project,
    owner = '',
    name,
    submitted,
    resolved,
    defaults,
    token,
    silenceMs,
    idempotency,
  }: OpenRunInput,
): Promise<{ id: string; token: string; created: boolean }> {
  const { run, limits } = context;
  const { accepting, maxQueued, projectBytes } = await admissionLimits(context, pressure);
  const record = {
    id,
    project,
    owner,
    name,
    token,
    silenceMs,
    key: idempotency?.name ?? '',
    digest: idempotency?.digest ?? '',
    accepting,
    version: RECORD_VERSION,
    maxRuns: limits.runsOfProject,
    maxQueued,
    projectBytes,
  };
  const documents = [record, submitted, resolved, defaults];
  const reply = (await run(
    'open-run',
    documents.map((document) => JSON.stringify(document)),
  )) as [...Admission, string];
  if ((reply[0] as string) === 'runs-full') throw tooManyRuns(limits.runsOfProject);
  const opened = admitted(reply as unknown as Admission, { projectField: '/project', maxQueued });
  return { ...opened, token: reply[3] ?? '' };
}

function tooManyRuns(max: number): EchelonError {
  return new EchelonError(
    'limit-reached',
    `A project may have at most ${max} open external runs. End one with an event \`ended\`, or cancel one.`,
  );
}

/** Position of the payload's kind and of the payload among the fields of an entry. */
const KIND = 6;
const PAYLOAD = 7;

/**
 * Compares events with those that the store or the archive has under their numbers. Throws EchelonError `event-conflict` for
 * the first one with other content. Its time is not compared: the server limits it.
 */
async function refuseOther(
  context: StoreContext,
  { experiment, attempt }: Omit<Lease, 'token'>,
  events: readonly NumberedEvent[],
): Promise<void> {
  for (const { sequence, event, data } of events.map(boundNumbered)) {
    const id = `${attempt}-${BigInt(sequence) * 2n ** 20n}`;
    const entry = await rawEntry(context, experiment, id);
    if (entry === undefined) continue; // retention deleted it
    const [recorded] = await toEntries(context, experiment, [entry]);
    const same =
      canonicalJson(recorded?.event) === canonicalJson(JSON.parse(JSON.stringify(event))) &&
      hasPayload(entry, data);
    if (same) continue;
    throw new EchelonError(
      'event-conflict',
      `Event ${sequence} is recorded with other content. Continue after the last recorded event.`,
    );
  }
}

async function rawEntry(
  context: StoreContext,
  experiment: string,
  id: string,
): Promise<RawEntry | undefined> {
  const { redis, keys, archived } = context;
  const [live] = await guarded(redis.xrangeBuffer(keys.events(experiment), id, id));
  if (live) return { id, fields: live[1] };
  const segments = readSegments(await guarded(redis.hget(keys.experiment(experiment), 'segments')));
  for await (const entry of archived.between(experiment, segments, id, id)) return entry;
  return undefined;
}

function hasPayload({ fields }: RawEntry, data: Uint8Array | undefined): boolean {
  const kind = fields[KIND]?.toString();
  if (kind === 'b') return data !== undefined && fields[PAYLOAD]!.equals(data);
  if (kind === 'k') return data !== undefined && fields[PAYLOAD]!.toString() === digestOf(data);
  return data === undefined;
}
