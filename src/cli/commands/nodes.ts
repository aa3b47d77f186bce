import { inert } from 'command-kit/inert';
import { fittedTable, textColumn } from 'command-kit/table';
import type { Cluster } from 'echelon-client/calls';
import { gpuFaults, gpuModel, inPercent, nodeName, otherLabels } from 'echelon-client/node-words';
import { group } from '../group.ts';
import { row, stated } from '../row.ts';
import { duration } from '../states.ts';

const ls = row({
  name: 'ls',
  description: 'List the nodes of all clusters with their free GPUs, states and labels.',
  options: [['--health', 'show CPU, memory and GPUs of each node']],
  examples: ['echelon nodes', 'echelon nodes ls --health'],
  verb: 'get',
  path: '/v1/clusters',
  print: ({ items }, { width, health, now }: { width: number | undefined; health?: boolean; now: number }) =>
    health ? healthTable(items, width) : nodeTable(items, now, width),
});

/** One line per node and one per GPU; `-`: not known. */
export function healthTable(clusters: readonly Cluster[], width?: number | undefined): string {
  const rows = clusters.flatMap(({ name, nodes }) =>
    nodes.flatMap(({ health, ...of }) => {
      const node = [inert(name), inert(nodeName(of))];
      const { cpuPercent = null, memoryPercent = null, gpus = [] } = health ?? {};
      const own = [...node, 'CPU', inPercent(cpuPercent), inPercent(memoryPercent), '-', '-', '-', '-'];
      const others = gpus.map((gpu) => [
        ...node,
        `GPU ${inert(gpu.gpu)}`,
        ...[inPercent(gpu.utilizationPercent), inPercent(gpu.memoryPercent)],
        gpu.temperatureCelsius === null ? '-' : `${Math.round(gpu.temperatureCelsius)} °C`,
        ...[gpu.xid ?? '-', gpu.eccErrors ?? '-'].map(String),
        gpu.faults.map(inert).join('; ') || '-',
      ]);
      return [own, ...others];
    }),
  );
  const columns = ['CLUSTER', 'NODE', 'DEVICE', 'USE', 'MEMORY', 'HEAT', 'XID', 'ECC'].map((title) => ({
    title,
  }));
  return rows.length === 0 ? NONE : fittedTable([...columns, faultColumn(rows)], rows, width);
}

const faultColumn = (rows: readonly string[][]) =>
  textColumn(
    'FAULTS',
    rows.map((row) => row[8]!),
  );

const NONE = 'No nodes. `echelon clusters` lists the clusters.';

/** One line per node. GPUs and CPUs are `free/total`. */
export function nodeTable(clusters: readonly Cluster[], now: number, width?: number | undefined): string {
  const rows = clusters.flatMap(({ name, nodes, slurm }) =>
    nodes.map((node) => [
      inert(name),
      inert(nodeName(node)),
      node.state,
      inert(`${free(node.gpusFree, node.gpusTotal)} ${gpuModel(node)}`.trimEnd()),
      free(node.cpusFree, node.cpusTotal),
      inert(otherLabels(node)) || '-',
      inert([node.stateReason, ...gpuFaults(node), jobOf(node, slurm, now)].filter(Boolean).join('; ')) ||
        '-',
    ]),
  );
  const columns = [
    { title: 'CLUSTER', minWidth: 8 },
    { title: 'NODE' },
    { title: 'STATE' },
    { title: 'FREE GPUS' },
    { title: 'FREE CPUS', drop: 2 },
    {
      ...textColumn(
        'LABELS',
        rows.map((row) => row[5]!),
      ),
      drop: 1,
    },
    textColumn(
      'REASON',
      rows.map((row) => row[6]!),
    ),
  ];
  return rows.length === 0 ? NONE : fittedTable(columns, rows, width);
}

/** For example "job 4711 of Slurm, 3 h left"; empty: Slurm did not bring the node. */
function jobOf({ labels }: Cluster['nodes'][number], slurm: Cluster['slurm'], now: number): string {
  const job = slurm?.jobs.find((one) => one.job !== null && one.job === labels['slurm-job']);
  if (job === undefined) return '';
  return `job ${job.job} of Slurm${job.endsAt === null ? '' : `, ${duration(job.endsAt - now)} left`}`;
}

function free(count: number, total: number): string {
  return [count, total].map((one) => Number(one.toFixed(2))).join('/');
}

const ARGUMENTS = [
  ['<name>', 'name of the cluster'],
  ['<node>', 'id of the node, or its start'],
] as const;
const REASON = ['--reason <text>', 'reason that users with queued experiments see'] as const;

const cordon = row({
  name: 'cordon',
  description: 'Start no new experiment on a node. Running experiments continue.',
  arguments: ARGUMENTS,
  options: [REASON],
  examples: ['echelon nodes cordon fleet 4f1c --reason "ECC errors"'],
  verb: 'post',
  path: '/v1/clusters/{name}/nodes/{node}/cordon',
  input: ({ reason }: { reason?: string }) => ({ body: stated({ reason }) }),
  print: (_cluster, { node }) => `${inert(node)} takes no new experiments`,
});

const drain = row({
  name: 'drain',
  description:
    'Start no new experiment on a node. Running experiments leave it at their next checkpoints and continue elsewhere.',
  arguments: ARGUMENTS,
  options: [REASON],
  examples: ['echelon nodes drain fleet 4f1c --reason "new kernel"'],
  verb: 'post',
  path: '/v1/clusters/{name}/nodes/{node}/drain',
  input: ({ reason }: { reason?: string }) => ({ body: stated({ reason }) }),
  print: (_cluster, { node }) => `${inert(node)} is draining; \`echelon nodes ls\` shows it`,
});

const uncordon = row({
  name: 'uncordon',
  description: 'End the cordon or the drain of a node.',
  arguments: ARGUMENTS,
  examples: ['echelon nodes uncordon fleet 4f1c'],
  verb: 'post',
  path: '/v1/clusters/{name}/nodes/{node}/uncordon',
  print: (_cluster, { node }) => `${inert(node)} accepts experiments`,
});

const description = 'Show the nodes of clusters, cordon and drain them. Without a command, list them.';

/** `echelon nodes`. */
export const commands = {
  nodes: group({ name: 'nodes', alias: 'node', description }, [ls, cordon, drain, uncordon]),
};
