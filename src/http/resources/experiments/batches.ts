import { BatchFormatError } from 'echelon-verify/format';
import type { RowCounts } from 'echelon-verify/report';
import { OUTCOMES } from 'echelon-verify/report';
import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { BatchDetail, BatchPage, BatchView } from '../../../schemas/records.ts';
import type { StoredReport } from '../../../store/batches/stored-report.ts';
import type { BatchRecord } from '../../../store/batches/types.ts';
import type { Store } from '../../../store/store.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf, PageQuery } from '../common.ts';

const Number32 = { minimum: 1, maximum: 2 ** 31 - 1 } as const;

/** Path parameters of one batch. */
export const BatchParams = StrictObject({
  id: Text('Id of the experiment.'),
  attempt: Type.Integer({ ...Number32, description: 'Number of the attempt, from 1.' }),
  batch: Type.Integer({ ...Number32, description: 'Number of the batch within the attempt, from 1.' }),
});

/** GET …/batches and one of them. */
export function addBatches(app: App, deps: RouteDeps): void {
  addList(app, deps);
  addRead(app, deps);
}

function addList(app: App, { store, settings }: RouteDeps): void {
  const pages = createBatchPages(store, settings.cookieSecret);
  route(app, {
    at: 'GET /v1/experiments/:id/batches',
    operationId: 'listBatches',
    summary: 'List recorded batches and optimizer steps with a summary of their reports',
    description:
      '`verification` is null until the batch is verified. The complete reports are at …/verification.',
    tag: 'verification',
    params: ExperimentParams,
    querystring: StrictObject(PageQuery),
    answer: 'BatchPage',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<BatchPage> => {
      const { id } = await experimentOf(store, request, request.params.id);
      const { items, next } = await pages.page(id, request.query);
      return { items: items.map(viewOf), next };
    },
  });
}

function addRead(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/experiments/:id/batches/:attempt/:batch',
    operationId: 'getBatch',
    concurrency: 'digest',
    summary: 'Get a recorded batch with its report',
    tag: 'verification',
    params: BatchParams,
    answer: 'BatchDetail',
    problems: ['not-found'],
    handler: async (request): Promise<BatchDetail> => {
      const { attempt, batch } = request.params;
      const { id } = await experimentOf(store, request, request.params.id);
      const { step, rows, digest, report } = await batchOf(store, { id, attempt, batch });
      return { attempt, batch, step, rows, digest, report };
    },
  });
}

/** A recorded batch of an experiment that the caller may see. Throws EchelonError `not-found`. */
export async function batchOf(
  store: Pick<Store, 'batches'>,
  { id, attempt, batch }: { id: string; attempt: number; batch: number },
): Promise<BatchRecord> {
  const record = await store.batches.get(id, attempt, batch);
  if (record !== undefined) return record;
  throw new EchelonError('not-found', `Attempt ${attempt} has recorded no batch ${batch}.`);
}

/**
 * The result of a recomputation. Bytes that are no batch, and work beyond a limit, are answers about the batch and no
 * faults of ours: EchelonError `not-verifiable`, with `refusal` as the start of its sentence.
 */
export async function recomputed<T>(work: Promise<T>, refusal: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BatchFormatError || error instanceof RangeError)
      throw new EchelonError('not-verifiable', `${refusal}: ${error.message}.`);
    throw error;
  }
}

/** Reads pages of an experiment's batches; cursors of one list fit all that are made here. */
export function createBatchPages(store: Pick<Store, 'batches'>, secret: string) {
  const cursors = createCursors(secret);
  return {
    async page(id: string, { cursor, limit = 50 }: { cursor?: string; limit?: number }) {
      const scope = `batches ${id}`;
      const [attempt, batch] = cursor === undefined ? [] : cursors.open(scope, cursor).split('/').map(Number);
      const after = attempt !== undefined && batch !== undefined && { after: { attempt, batch } };
      const { items, more } = await store.batches.page(id, { ...after, limit });
      const last = items.at(-1);
      const next = more && last ? cursors.seal(scope, `${last.attempt}/${last.batch}`) : null;
      return { items, next };
    },
  };
}

function viewOf({ attempt, batch, step, rows, digest, report }: BatchRecord): BatchView {
  return { attempt, batch, step, rows, digest, verification: inShort(report) };
}

/** What of the verifier's report is shown in a list. */
function inShort(report: StoredReport | null): BatchView['verification'] {
  if (report === null) return null;
  const { findings, step, ok, exact, rounding, wrong, unverifiable } = report;
  return {
    kind: step === undefined ? 'advantage' : 'step',
    ok,
    exact,
    rounding,
    wrong,
    unverifiable,
    findings: codesOf(findings),
    errors: codesOf(findings.filter(({ severity }) => severity === 'error')),
    ...(step && { stages: Object.fromEntries(step.stages.map((one) => [one.stage, worstOf(one)])) }),
  };
}

const codesOf = (findings: readonly { code: string }[]): string[] => [
  ...new Set(findings.map(({ code }) => code)),
];

const worstOf = (counts: RowCounts) => OUTCOMES.findLast((outcome) => counts[outcome] > 0) ?? 'exact';
