import { Type } from 'typebox';
import { strict } from './objects.ts';

/** URL of an object store: bucket, prefix without `.` and `..`, parameters. */
export const STORE_URL =
  '^(s3|gs)://[a-z0-9][a-z0-9._-]{1,61}[a-z0-9](/(?!\\.{1,2}(?:[/?]|$))[A-Za-z0-9._-]+)*/?(\\?(region|scheme|endpoint_override)=[A-Za-z0-9.:_-]+(&(region|scheme|endpoint_override)=[A-Za-z0-9.:_-]+)*)?$';

const MEANING =
  'Object stores for checkpoints of experiments on the cluster, each with the projects that may use it; `*` is every project. A spec may name one of these URLs, or one below it with the same parameters. Only list a store at an inner address if every project of its list may reach that address from the cluster.';

/** The object stores that projects may use on a cluster, by URL. */
export const CheckpointStores = Type.Record(
  Type.String({ pattern: STORE_URL }),
  Type.Array(Type.String({ pattern: '^(\\*|[a-z0-9][a-z0-9-]{0,62})$' }), {
    maxItems: 256,
    uniqueItems: true,
  }),
  { ...strict, maxProperties: 64, description: `${MEANING} Default: none.` },
);

/** {@link CheckpointStores} in an answer. */
export const SeenCheckpointStores = Type.Record(Type.String(), Type.Array(Type.String()), {
  description: `${MEANING} A key of a project sees only the entries of its own project.`,
});
