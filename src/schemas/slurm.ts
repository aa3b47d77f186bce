import { type Static, Type } from 'typebox';
import { Instant, nullable, Text } from './answer-parts.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';
import { count, flag } from './optional-fields.ts';

/** A name of Slurm: it becomes the value of an option of sbatch. */
const slurmName = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$', description });
const directory = (description: string) =>
  Type.String({ pattern: '^/[A-Za-z0-9._/@+-]{0,254}$', description });

/** The body of POST /v1/clusters/:name/slurm: how the nodes of a cluster are asked for as Slurm jobs. */
export const SlurmNodes = NamedObject('SlurmNodes', {
  partition: slurmName('Partition of the jobs that bring nodes.'),
  headPartition: Type.Optional(
    slurmName('Partition of the job with the head of the Ray. Default: `partition`.'),
  ),
  account: Type.Optional(slurmName('Account of the jobs. Default: that of the Unix user.')),
  qos: Type.Optional(slurmName('Quality of service of the jobs.')),
  constraint: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:,|&*()\\[\\]-]{0,199}$',
      description: 'Features that nodes must have, as `sbatch --constraint` takes them.',
    }),
  ),
  node: DescribedObject('What the job of a node asks for.', {
    gpus: Type.Integer({ minimum: 0, maximum: 1024 }),
    cpus: Type.Integer({ minimum: 1, maximum: 65_536 }),
    memoryMb: count(1, 100_000_000, 'Memory in MB. Default: what the partition gives.'),
  }),
  maxNodes: Type.Integer({ minimum: 1, maximum: 64, description: 'MAX number of nodes at a time.' }),
  minutes: Type.Integer({ minimum: 2, maximum: 100_000, description: 'Time limit of the job of a node.' }),
  headMinutes: count(
    2,
    1_000_000,
    'Time limit of the job with the head, best the longest that is allowed. Default: `minutes`.',
  ),
  noticeSeconds: count(
    10,
    86_400,
    'How long before its time limit a node is drained: two steps of a training and the time to save. Default: 300.',
  ),
  idleSeconds: count(10, 86_400, 'How long a node without experiments is kept. Default: 300.'),
  exclusive: flag('Whether no other job may share the nodes. Ray before 2.52 needs it. Default: false.'),
  setup: Type.Optional(
    Type.String({
      maxLength: 16_384,
      description: 'Shell commands that each job runs before Ray, such as `module load cuda`.',
    }),
  ),
  bin: directory('Directory of `ray` and `python` on the nodes.'),
  sharedRoot: directory('Directory that the login node and all nodes see.'),
  ssh: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,254}$',
      description:
        "Host of OpenSSH on which Slurm's commands run; its key must be known. Default: they run beside the dispatcher.",
    }),
  ),
});
export type SlurmNodes = Static<typeof SlurmNodes>;

/** The jobs of a cluster in Slurm, as they are shown. */
export const SlurmView = DescribedObject('Its jobs in Slurm; null: it gets no nodes from Slurm.', {
  partition: Type.String(),
  maxNodes: Type.Integer(),
  problem: nullable(Text('Why Slurm was not asked, or gave nothing; null: nothing is wrong.')),
  waitsUntil: nullable(Instant, {
    description: 'Until when Slurm is asked for nothing, as allocations have failed; null: it may be asked.',
  }),
  answeredAt: nullable(Instant),
  jobs: Type.Array(
    StrictObject({
      job: nullable(Text('Id in Slurm; null: not known yet.')),
      role: Type.Enum(['head', 'node'], { type: 'string' }),
      state: Text("Slurm's state of the job."),
      reason: nullable(Text("Why it waits, in Slurm's word.")),
      startsAt: nullable(Instant),
      endsAt: nullable(Instant),
    }),
    { description: 'Those that wait or run.' },
  ),
});
