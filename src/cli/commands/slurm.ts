import { wholeNumber } from 'command-kit/arguments';
import { inert } from 'command-kit/inert';
import { plural } from 'command-kit/plural';
import { InvalidArgumentError, Option } from 'commander';
import type { SlurmNodes } from 'echelon-client/calls';
import { slurmMinutes } from '../../core/slurm-time.ts';
import { row, stated } from '../row.ts';
import { nodeTypeOption, textOf } from './cluster-values.ts';

interface Options {
  partition: string;
  nodeType: Pick<SlurmNodes, 'node' | 'maxNodes'>;
  time: number;
  bin: string;
  sharedRoot: string;
  headPartition?: string;
  headTime?: number;
  setup?: string;
  ssh?: string;
  sbatch?: Partial<Record<SbatchKey, string>>;
  notice?: number;
  idle?: number;
  exclusive?: boolean;
}

const SBATCH_KEYS = ['account', 'qos', 'constraint'] as const;
type SbatchKey = (typeof SBATCH_KEYS)[number];

/** `echelon clusters add-slurm`. */
export const addSlurm = row({
  name: 'add-slurm',
  description: 'Add a cluster that asks Slurm for its nodes when experiments need them.',
  arguments: [['<name>', 'name of the cluster']],
  options: [
    mandatory('--partition <name>', 'partition of the jobs'),
    mandatory('--node-type <size>', 'node to ask for, as gpus=8,cpus=96,max=4[,memory=MB]', nodeOption),
    mandatory(
      '--time <limit>',
      'time limit of a node, as Slurm writes it (24:00:00, 1-0, 90)',
      minutesOption,
    ),
    mandatory('--bin <directory>', 'directory of ray and python on the nodes'),
    mandatory('--shared-root <directory>', 'directory that the login node and all nodes see'),
    ['--head-partition <name>', 'partition of the small job with the head of the Ray (default: the same)'],
    [
      '--head-time <limit>',
      'its time limit, best the longest allowed (default: that of the nodes)',
      minutesOption,
    ],
    ['--setup <file>', 'shell commands that each job runs before Ray'],
    ['--ssh <host>', "host of OpenSSH on which Slurm's commands run (default: where the dispatcher runs)"],
    ['--sbatch <key=value>', 'account, qos or constraint of the jobs; repeatable', sbatchOption],
    [
      '--notice <seconds>',
      'how long before its end a node is drained (default: 300)',
      wholeNumber(10, 86_400),
    ],
    [
      '--idle <seconds>',
      'how long a node without experiments is kept (default: 300)',
      wholeNumber(10, 86_400),
    ],
    ['--exclusive', 'share the nodes with no other job; Ray before 2.52 needs it'],
  ],
  examples: [
    'echelon clusters add-slurm fleet --partition gpu --node-type gpus=8,cpus=96,max=4 --time 24:00:00 --bin /scratch/me/env/bin --shared-root /scratch/me/echelon',
  ],
  verb: 'post',
  path: '/v1/clusters/{name}/slurm',
  input: async (options: Options) => {
    const { partition, nodeType, time, bin, sharedRoot, sbatch, setup } = options;
    const { headPartition, headTime: headMinutes, ssh, exclusive, notice, idle } = options;
    return {
      body: {
        ...{ partition, bin, sharedRoot, minutes: time },
        ...nodeType,
        ...sbatch,
        ...stated({ headPartition, headMinutes, ssh, exclusive, noticeSeconds: notice, idleSeconds: idle }),
        ...(setup !== undefined && { setup: await textOf(setup) }),
      },
    };
  },
  print: ({ name, slurm }) =>
    `${inert(name)} asks the partition ${inert(slurm?.partition ?? '')} of Slurm for up to ${plural(slurm?.maxNodes ?? 0, 'node')}; \`echelon clusters\` shows its jobs`,
});

function mandatory(flags: string, description: string, parser?: (text: string) => unknown): () => Option {
  return () => {
    const option = new Option(flags, description).makeOptionMandatory();
    return parser === undefined ? option : option.argParser(parser);
  };
}

function nodeOption(text: string): Options['nodeType'] {
  const found = /^(.*?)(?:,memory=(\d+))?$/.exec(text)!;
  const [type] = nodeTypeOption(found[1]!);
  if (type === undefined || type.labels !== undefined)
    throw new InvalidArgumentError('It must be gpus=N,cpus=N,max=N or cpus=N,max=N, then perhaps memory=MB.');
  const { gpus, cpus, max } = type;
  return { node: { gpus, cpus, ...(found[2] && { memoryMb: Number(found[2]) }) }, maxNodes: max };
}

/** Minutes of a time limit, as Slurm writes it. */
export function minutesOption(text: string): number {
  const minutes = slurmMinutes(text);
  if (minutes === undefined)
    throw new InvalidArgumentError('It must be a time limit of Slurm, such as 24:00:00, 1-0 or 90.');
  return minutes;
}

function sbatchOption(text: string, before: Options['sbatch'] = {}): Options['sbatch'] {
  const at = text.indexOf('=');
  const key = SBATCH_KEYS.find((one) => one === text.slice(0, at));
  if (key === undefined || at === text.length - 1)
    throw new InvalidArgumentError('It must be account=NAME, qos=NAME or constraint=FEATURES.');
  return { ...before, [key]: text.slice(at + 1) };
}
