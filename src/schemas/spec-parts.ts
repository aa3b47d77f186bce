import { type Static, Type } from 'typebox';
import { PRIORITY_CLASSES } from '../core/priority-class.ts';
import { STORE_URL } from './checkpoint-stores.ts';
import { DescribedObject, strict } from './objects.ts';
import { count, number } from './optional-fields.ts';
import { Rules } from './rules.ts';
import { Secrets } from './secrets.ts';

/** Plain environment variables. Values of secrets come from `secrets`. */
export const Variables = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }),
  // Keys and JSON have line feeds and tabs. Nothing else of the controls means anything to a program.
  Type.String({
    maxLength: 4096,
    pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$',
    description: 'Text without control characters other than line feed, carriage return and tab.',
  }),
  {
    ...strict,
    maxProperties: 64,
    description:
      'Environment variables of the driver and of its Ray processes, in plain text. Names have letters, digits and underscores, and begin with no digit. Variables of a spec replace those of its cluster.',
  },
);
export type Variables = Static<typeof Variables>;

/** Characters of a pattern's class that control, turn or take no room: a name must look like what it is, in tables. */
const UNSEEN =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff';
const SPACES = ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';

/** A name for people; ids are made by the system. */
export const Label = Type.String({
  minLength: 1,
  maxLength: 100,
  // The first two parts share no character: a long text is read once, however it ends.
  pattern: `^[${SPACES}]*[^${SPACES}${UNSEEN}][^${UNSEEN}]*$`,
  description:
    'Display name. It needs a visible character; control, bidirectional and zero-width characters are not allowed.',
});

/** A name that may stand in an address or a path. */
export const Name = Type.String({
  pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
  description: 'Lower-case letters, digits and hyphens.',
});

const Cpus = Type.Number({
  minimum: 0.1,
  maximum: 4096,
  description:
    'CPUs in all. With GPUs, each node has one CPU for each of its GPUs; the others may be on any node of the cluster. Without GPUs, all are on one node.',
});

/** A word by which users group experiments. */
export const Tag = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9 ._:/=+-]{0,49}$',
  maxLength: 50,
  description: 'Letters, digits, spaces and . _ : / = + -, at most 50; it starts with a letter or a digit.',
});

/** The tags of an experiment. */
export const tagsAs = (description: string) =>
  Type.Array(Tag, { maxItems: 20, uniqueItems: true, description });

const labelsAs = (description: string) =>
  Type.Record(
    Type.String({ pattern: '^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$' }),
    Type.String({
      minLength: 1,
      maxLength: 63,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$',
      description: 'Letters, digits and inner . _ -',
    }),
    { ...strict, maxProperties: 32, description },
  );

/** Labels of a cluster, and those that an experiment asks for. */
export const Labels = labelsAs(
  'Keys and values of letters, digits and inner . _ - (keys also /), at most 63 characters',
);

const NodeLabels = labelsAs(
  'Labels that every node of the experiment must have in Ray, such as `ray.io/accelerator-type: A100`. `echelon nodes` shows the labels. Default: any node.',
);

/** What an experiment takes of a cluster. */
export const Resources = DescribedObject('Resources that the experiment needs.', {
  nodes: count(1, 64, 'Number of nodes; the experiment starts when all of them have room. Default: 1.'),
  gpus: count(0, 1024, 'GPUs of each node.'),
  cpus: Type.Optional(Cpus),
  nodeLabels: Type.Optional(NodeLabels),
});

/** {@link Resources} of an engine that uses no GPU. A resolved spec states both fixed values, and can be submitted. */
export const CpuResources = DescribedObject('Resources that the experiment needs.', {
  nodes: Type.Optional(
    Type.Unsafe<1>({
      type: 'integer',
      const: 1,
      description: 'Always 1: this engine runs on one node.',
    }),
  ),
  gpus: Type.Optional(
    Type.Unsafe<0>({ type: 'integer', const: 0, description: 'Always 0: this engine uses no GPU.' }),
  ),
  cpus: Type.Optional(Cpus),
  nodeLabels: Type.Optional(NodeLabels),
});

/** Who goes first. */
export const Priority = Type.Integer({
  minimum: -100,
  maximum: 100,
  description:
    'Queue priority within the class; higher starts first. At equal priority, projects take turns, and each project starts its oldest experiment first. Default: 0.',
});

/** Who may preempt whom. */
export const PriorityClass = Type.Enum([...PRIORITY_CLASSES], {
  type: 'string',
  description:
    'Class of the experiment. `urgent` starts before `normal`, and `normal` before `batch`, whatever their priorities. An urgent experiment without room preempts batch experiments, which stop at a checkpoint and continue from it later. `urgent` needs a project with an `urgentGpuQuota`. Default: normal.',
});

/** An instant of RFC 3339, seconds and offset included. */
const INSTANT =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])[Tt]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]([01]\\d|2[0-3]):[0-5]\\d)$';

/**
 * Where complete checkpoints are uploaded. The URL has no credentials: these are secrets of the spec or of the cluster. An
 * administrator lists the URLs that a project may name (`CheckpointStores`).
 */
const CheckpointStore = DescribedObject(
  'Object store to which complete checkpoints are uploaded. An attempt on another cluster resumes from the newest one there; without it, an experiment stays on the cluster of its checkpoint. Credentials come from secrets, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  {
    url: Type.String({
      maxLength: 500,
      pattern: STORE_URL,
      description:
        'Bucket and prefix, as s3://bucket/prefix?region=eu-1&endpoint_override=host:port&scheme=https, or gs://bucket/prefix. It is a URL of `checkpointStores` of the cluster, or below one with the same parameters.',
    }),
    megabytesPerSecond: number(
      0.1,
      100_000,
      'Maximum bandwidth of an upload or a download. Default: no limit.',
    ),
    retain: count(1, 1000, 'Number of checkpoints that the store retains. Default: 2.'),
  },
);

/** The fields that a spec of every engine has. */
export const commonFields = {
  name: Label,
  project: Type.Optional(Name),
  cluster: Type.Optional(Name),
  clusterLabels: Type.Optional(Labels),
  tags: Type.Optional(
    tagsAs(
      'Tags of the experiment, by which lists are filtered and grouped; `echelon update` changes them later.',
    ),
  ),
  priority: Type.Optional(Priority),
  priorityClass: Type.Optional(PriorityClass),
  resources: Type.Optional(Resources),
  maxAttempts: count(
    1,
    20,
    'Maximum number of attempts that end because the driver or its supervisor was killed. Faults of the cluster do not count.',
  ),
  maxClusterFaults: count(
    0,
    1_000,
    'Maximum number of attempts that faults of the cluster (a lost node, a GPU, the head of Ray) end before the experiment fails.',
  ),
  gracePeriodSeconds: number(0, 3600, 'Seconds between SIGTERM and SIGKILL when the driver is stopped.'),
  rules: Type.Optional(Rules),
  timeoutSeconds: number(
    1,
    31_536_000,
    'Time limit of an attempt, in seconds. An attempt that exceeds it is stopped, and the experiment fails.',
  ),
  deadline: Type.Optional(
    Type.String({
      pattern: INSTANT,
      description:
        'Deadline (RFC 3339, e.g. 2027-01-31T18:00:00Z). At this time a queued experiment fails and a running one is stopped.',
    }),
  ),
  env: Type.Optional(Variables),
  secrets: Type.Optional(Secrets),
  checkpointStore: Type.Optional(CheckpointStore),
};

/** An object of whatever fields, in an answer: what it holds is said elsewhere, and may be that of an older version. */
export function SomeObject(description: string) {
  return Type.Unsafe<unknown>({ type: 'object', additionalProperties: true, description });
}
