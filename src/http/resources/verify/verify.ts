import type { Readable } from 'node:stream';
import { ALL_ADAPTERS, mappingFromTexts } from 'echelon-verify/dumps';
import { BatchFormatError } from 'echelon-verify/format';
import { estimatorNames, isEstimatorName, PRECISIONS, parameterFromText } from 'echelon-verify/kernel';
import type { StatedDump } from 'echelon-verify/verify';
import { type Static, Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { holderOf } from '../../../core/scopes.ts';
import { NamedObject, StrictObject } from '../../../schemas/objects.ts';
import { count } from '../../../schemas/optional-fields.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { createSlots } from '../../server/slots.ts';
import { withUpload } from '../../server/upload.ts';
import { namesQuery } from '../common.ts';

const FormatName = { enum: ALL_ADAPTERS.map(({ name }) => name) };
const EstimatorNames = { enum: estimatorNames() };

const Query = StrictObject({
  name: Type.String({
    pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$',
    description: 'Name of the file without folders. Some formats take the training step from it.',
  }),
  from: Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      ...FormatName,
      description: 'Format of the dump. Default: the content decides.',
    }),
  ),
  estimator: Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      ...EstimatorNames,
      description: 'Estimator of the run that wrote the dump. Default: it is inferred.',
    }),
  ),
  param: Type.Optional(namesQuery(20, 'Parameters of the estimator, each as `name=value`.')),
  precision: Type.Optional(
    Type.Enum([...PRECISIONS], {
      description:
        'Arithmetic of the trainer; `bfloat16-output` and `float16-output`: float32, and only the advantages are rounded to 16 bits. Default: the one that is usual for the trainer.',
    }),
  ),
  groupSize: count(1, 1e6, 'Number of responses per prompt in the dump.'),
  rewards: Type.Optional(namesQuery(50, 'Columns of the dump that hold rewards.')),
  weights: Type.Optional(namesQuery(50, 'Factor of each reward column, in the order of `rewards`.')),
  map: Type.Optional(
    namesQuery(
      5,
      'Columns of a table, each as `meaning=column`: group, reward, advantage, trajectory, step.',
    ),
  ),
});

const Answer = NamedObject('FileReport', {
  batches: Type.Array(Type.Unsafe<unknown>({ $ref: 'BatchReport#' })),
  steps: Type.Array(Type.Unsafe<unknown>({ $ref: 'StepReport#' }), {
    description: 'Reports of the optimizer steps of an echelon-batch/3 file or a dump.',
  }),
});

/** POST /v1/verify: the report of a file that is sent with the request. Stores nothing. */
export function addVerify(app: App, { verifier, onDemand, limits }: RouteDeps): void {
  const slots = createSlots(limits.uploads, `${limits.uploads} files of this caller are being verified.`);
  route(app, {
    at: 'POST /v1/verify',
    operationId: 'verifyFile',
    scope: 'read',
    idempotency: 'ignored',
    audit: false,
    summary: 'Verify a file of advantage batches or optimizer steps, or a dump of another trainer',
    description: `The body is the file. Returns the reports that \`echelon verify --json FILE\` prints and stores nothing. A file may have ${limits.uploadBytes} bytes, 200,000 rows and 1,000 batches or steps.`,
    tag: 'verification',
    querystring: Query,
    answer: Answer,
    problems: ['unreadable-file', 'verifier-busy'],
    config: { file: true },
    handler: async (request, reply) => {
      const { name, from } = request.query;
      const stated = statedIn(request.query);
      const leave = slots.take(holderOf(request.caller));
      try {
        return await onDemand(request, reply, async (asked) => {
          const body = request.body as unknown as Readable;
          const length = Number(request.headers['content-length'] ?? 0);
          const upload = { body, length, name, maxBytes: limits.uploadBytes, signal: asked.signal };
          return await withUpload(upload, (path) => verifier.verifyFile({ path, name, from, stated }, asked));
        });
      } catch (error) {
        throw refusalOf(error);
      } finally {
        // A client that still sends gets the answer only if the rest is read; the deadline of a request bounds that.
        if (!request.raw.complete) request.raw.resume();
        leave();
      }
    },
  });
}

function statedIn(query: Static<typeof Query>): StatedDump {
  const { estimator, param = [], precision, groupSize, rewards, weights, map } = query;
  const params = param.map((text) => within('param', () => parameterFromText(text)));
  return {
    ...(estimator !== undefined && isEstimatorName(estimator) && { estimator }),
    ...(params.length > 0 && { params: Object.assign({}, ...params) }),
    ...(precision !== undefined && { precision }),
    ...(groupSize !== undefined && { groupSize }),
    ...(rewards !== undefined && { rewards }),
    ...(weights !== undefined && { weights: within('weights', () => weights.map(numberIn)) }),
    ...(map !== undefined && { map: within('map', () => mappingFromTexts(map)) }),
  };
}

function numberIn(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number))
    throw new RangeError('must be numbers, separated by commas');
  return number;
}

/** What `read` makes of a field of the query. Its RangeError becomes EchelonError `invalid-request`. */
function within<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new EchelonError('invalid-request', `The request is invalid: ${field}.`, {
      problems: [{ field, message: error.message }],
    });
  }
}

/** What the caller sent, and not the server, is at fault. */
function refusalOf(error: unknown): unknown {
  if (error instanceof RangeError) return new EchelonError('invalid-request', `${error.message}.`);
  if (!(error instanceof BatchFormatError)) return error;
  const code = error.code === 'too-large' ? 'body-too-large' : 'unreadable-file';
  return new EchelonError(code, `${error.message}.`);
}
