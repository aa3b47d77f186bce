import { type Static, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import { CountOf, Instant, nullable, Text } from './answer-parts.ts';
import { CheckpointStores } from './checkpoint-stores.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';
import { count, flag, text } from './optional-fields.ts';
import { SecretProjects } from './secrets.ts';
import { Labels, Name, Variables } from './spec-parts.ts';

const Pem = Type.String({ minLength: 1, maxLength: 65_536, description: 'PEM text.' });

/** Name of the storage of a shared root. */
const Storage = Type.String({
  pattern: '^[A-Za-z0-9._-]{1,64}$',
  description:
    'Name of the storage of the shared root. An experiment continues from its checkpoint also on another cluster whose storage has the same name. Default: no other cluster reaches the checkpoints.',
});

/** Nodes that an autoscaler may bring. */
export const NodeTypes = Type.Array(
  StrictObject({
    gpus: Type.Number({ minimum: 0, maximum: 1024 }),
    cpus: Type.Number({ minimum: 1, maximum: 65_536 }),
    max: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'MAX number of these nodes on the cluster.',
    }),
    labels: Type.Optional(Labels),
  }),
  {
    maxItems: 16,
    description:
      "Sizes of the nodes that Ray's autoscaler may bring. Queued experiments that need such nodes ask for them. Default: none, and no request.",
  },
);

/** The body of POST /v1/clusters: where a Ray cluster is, and how its ray-worker is to run. */
export const AddCluster = NamedObject('AddCluster', {
  name: Name,
  address: Type.String({
    maxLength: 300,
    pattern: '^ray://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$',
    description: "Address of Ray's client server, as ray://host:port. Ray's default port is 10001.",
  }),
  token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      pattern: '^[\\x21-\\x7e]+$',
      description: 'Authentication token of Ray. No response contains it.',
    }),
  ),
  sharedRoot: Type.String({
    maxLength: 1000,
    pattern: '^(/|~(/|$))[^\\u0000-\\u001f\\u007f]*$',
    description: "Directory that all nodes of the cluster share. `~` is the home directory of Ray's user.",
  }),
  node: text(1, 300, "Node of the ray-worker: id, address or host name. Default: Ray's head node."),
  port: count(1, 65_535, 'Port of the ray-worker. Default: a free port.'),
  advertise: Type.Optional(
    Type.String({
      maxLength: 300,
      pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+):[0-9]{1,5}$',
      description:
        'Address at which dispatchers reach the ray-worker, as host:port. Default: the address of its node.',
    }),
  ),
  backfill: flag(
    'Whether smaller experiments may start before a blocked one if they do not delay its estimated start. Default: false.',
  ),
  labels: Type.Optional(Labels),
  env: Type.Optional(Variables),
  storage: Type.Optional(Storage),
  nodeTypes: Type.Optional(NodeTypes),
  tls: Type.Optional(
    DescribedObject(
      "TLS material for the connection to Ray. Ray's built-in TLS is mutual and needs ca, cert and key.",
      {
        ca: Type.Optional(Pem),
        cert: Type.Optional(Pem),
        key: Type.Optional(Pem),
        serverName: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
      },
    ),
  ),
});
export type AddCluster = Static<typeof AddCluster>;

/** Directories of a cluster from which specs may load code without the scope `custom-code`. */
const CodePaths = Type.Array(Type.String({ pattern: '^/(?!.*\\.\\.)[A-Za-z0-9._/ -]{1,254}$' }), {
  maxItems: 32,
  uniqueItems: true,
  description:
    'Directories from which specs may load code (home, model.path) even if the API key lacks the scope custom-code. Subdirectories are included.',
});

/** Which runtime environments specs may ask for on a cluster. */
export const RuntimeEnvFields = Type.Array(Type.Enum(['pip', 'conda']), {
  uniqueItems: true,
  description:
    'Fields of `runtimeEnv` that specs may have on the cluster. With pip, nodes install packages. Default: none.',
});

/** The body of PATCH /v1/clusters/:name: what people decide of a cluster. */
export const ClusterChange = NamedObject(
  'ClusterChange',
  {
    labels: Type.Optional(Labels),
    backfill: Type.Optional(Type.Boolean()),
    codePaths: Type.Optional(CodePaths),
    runtimeEnv: Type.Optional(RuntimeEnvFields),
    checkpointStores: Type.Optional(CheckpointStores),
    secretProjects: Type.Optional(nullable(SecretProjects)),
    env: Type.Optional(Variables),
    storage: Type.Optional(nullable(Storage)),
    nodeTypes: Type.Optional(NodeTypes),
  },
  { minProperties: 1 },
);
export type ClusterChange = Static<typeof ClusterChange>;

/** What a command does to its cluster. */
const COMMAND_KINDS = ['add', 'drain', 'remove', 'preflight'] as const;
/** One of {@link COMMAND_KINDS}. */
export type CommandKind = (typeof COMMAND_KINDS)[number];

/** The states of a command; the last two are final. */
export const COMMAND_STATES = ['queued', 'running', 'succeeded', 'failed'] as const;
/** One of {@link COMMAND_STATES}. */
export type CommandState = (typeof COMMAND_STATES)[number];

/** Something that a command found: an `error` ended it, a `warning` did not. `remedy`: what to do about it. */
export const CommandProblem = StrictObject({
  severity: Type.Enum(['warning', 'error'], { type: 'string' }),
  message: Type.String(),
  remedy: Text('Remedy, in one sentence.'),
});
export type CommandProblem = Static<typeof CommandProblem>;

/** What a preflight looked at: an `error` cannot work, a `warning` may not. `remedy`: what to do; empty: nothing. */
export const PreflightFinding = StrictObject({
  severity: Type.Enum(['ok', 'warning', 'error'], { type: 'string' }),
  check: Text('Subject of the check, in a word or two.'),
  message: Type.String(),
  remedy: Text('Remedy; empty if nothing needs to be done.'),
});
export type PreflightFinding = Static<typeof PreflightFinding>;

/** A request on a cluster, carried out by a dispatcher: poll it until its state is final. */
export const Command = NamedObject('Command', {
  id: Type.String(),
  cluster: Type.String(),
  kind: Type.Enum([...COMMAND_KINDS], { type: 'string' }),
  state: Type.Enum([...COMMAND_STATES], { type: 'string' }),
  report: Type.Array(Type.String(), { description: 'Steps that are done, one sentence each.' }),
  problems: Type.Array(CommandProblem),
  findings: Type.Array(PreflightFinding, {
    description: 'Findings of a preflight, errors first; empty for other commands.',
  }),
  createdAt: Instant,
  endedAt: nullable(Instant),
});
export type Command = Static<typeof Command>;

/** Whether a command is over. */
export function isCommandOver({ state }: Pick<Command, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed';
}

/** The resources that attempts hold, by cluster and node. */
export const AllocationList = NamedObject('AllocationList', {
  total: CountOf('Number of allocations that the caller may see.'),
  items: Type.Array(
    StrictObject({
      experiment: Type.String(),
      name: Text('Name of the experiment.'),
      project: Type.String(),
      attempt: Type.Integer({ minimum: 0 }),
      state: nullable(Type.Enum([...STATES], { type: 'string', description: 'State of the experiment.' })),
      cluster: Type.String(),
      node: Text('Id of the node in Ray.'),
      gpus: Type.Number({ minimum: 0 }),
      cpus: Type.Number({ minimum: 0 }),
      startedAt: nullable(Instant),
      leavesAt: nullable(Instant, {
        description:
          'If it is preempted: when it is stopped, unless it stops at a checkpoint before; else null. It continues later.',
      }),
      end: nullable(
        DescribedObject('Expected end; null if nothing is known about it.', {
          endAt: Instant,
          earliest: Instant,
          latest: Instant,
        }),
      ),
    }),
  ),
});
export type AllocationList = Static<typeof AllocationList>;
