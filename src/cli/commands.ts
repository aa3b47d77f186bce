import type { Output } from 'command-kit/output';
import type { Command } from 'commander';
import type { TextStreams } from 'echelon-verify/cli';
import { FILE_COMMANDS } from './file-commands.ts';

/** Where commands write. */
interface Streams {
  output: Output;
  /** For the commands on batch files. */
  streams: TextStreams;
}

/** A command of the program. Its module is loaded only if it is needed, so that the program starts quickly. */
export interface Entry {
  name: string;
  alias?: string;
  /** What the list of commands shows: up to 52 characters. */
  summary: string;
  load(streams: Streams): Promise<Command>;
}

/** The entry of a command that a module of `commands` holds. */
function entry<N extends string>(
  name: N,
  summary: string,
  module: () => Promise<{ commands: Record<N, (output: Output) => Command> }>,
  alias?: string,
): Entry {
  return {
    name,
    ...(alias !== undefined && { alias }),
    summary,
    load: async ({ output }) => (await module()).commands[name](output),
  };
}

const access = () => import('./commands/access.ts');
const backup = () => import('./commands/backup.ts');
const batches = () => import('./commands/batches.ts');
const cancelDelete = () => import('./commands/cancel-delete.ts');
const box = () => import('./commands/box.ts');
const clock = () => import('./commands/clock.ts');
const clusters = () => import('./commands/clusters.ts');
const comparison = () => import('./commands/comparison.ts');
const completion = () => import('./commands/completion.ts');
const diff = () => import('./commands/diff.ts');
const doctor = () => import('./commands/doctor.ts');
const experiments = () => import('./commands/experiments.ts');
const games = () => import('./commands/games.ts');
const help = () => import('./commands/help.ts');
const login = () => import('./commands/login.ts');
const logs = () => import('./commands/logs.ts');
const mcp = () => import('./commands/mcp.ts');
const metrics = () => import('./commands/metrics.ts');
const nodes = () => import('./commands/nodes.ts');
const notify = () => import('./commands/notify.ts');
const open = () => import('./commands/open.ts');
const plan = () => import('./commands/plan.ts');
const preflight = () => import('./commands/preflight.ts');
const presets = () => import('./commands/presets.ts');
const projects = () => import('./commands/projects.ts');
const queues = () => import('./commands/queues.ts');
const servers = () => import('./commands/servers.ts');
const submit = () => import('./commands/submit.ts');
const supportBundle = () => import('./commands/support-bundle.ts');
const sweeps = () => import('./commands/sweeps.ts');
const update = () => import('./commands/update.ts');
const usage = () => import('./commands/usage.ts');
const watch = () => import('./commands/watch.ts');

const START: Entry[] = [
  entry('demo', 'run everything once on this machine', servers),
  entry('up', 'start Echelon on this machine and keep it running', servers),
  entry('down', 'stop `echelon up`', servers),
  entry('status', 'show whether `echelon up` runs here', servers),
  entry('open', 'open the dashboard in the browser', open),
  entry('doctor', 'check the requirements on this machine', doctor),
  entry('box', 'make a spec from a script of verl-agent', box),
  entry('help', 'show the help of a command', help),
];

const EXPERIMENTS: Entry[] = [
  entry('submit', 'submit an experiment from a file', submit),
  entry('ls', 'list experiments', experiments),
  entry('get', 'show an experiment', experiments),
  entry('watch', 'follow an experiment, a sweep or a project live', watch),
  entry('logs', 'print the output of the driver', logs),
  entry('metrics', 'show metrics', metrics),
  entry('games', 'show the games of the evaluations', games),
  entry('batches', 'show the verification of batches and rows', batches),
  entry('diff', 'compare two experiments', diff),
  entry('rerun', 'run an experiment or a sweep again', submit),
  entry('update', 'change the priority, the note or the tags', update),
  entry('cancel', 'cancel experiments or sweeps', cancelDelete),
  entry('delete', 'delete experiments or the experiments of sweeps', cancelDelete),
];

const SWEEPS: Entry[] = [
  entry('sweeps', 'run one spec with many values, compare the results', sweeps, 'sweep'),
  entry('presets', "run the sweeps that reproduce the paper's tables", presets, 'preset'),
  entry('comparison', 'compare methods by a plan that is fixed before', comparison, 'comparisons'),
];

const CLUSTERS: Entry[] = [
  entry('queues', 'show, pause and close queues', queues, 'queue'),
  entry('clock', 'compare and confirm the clock of Redis', clock),
  entry('clusters', 'add, pause, drain and delete Ray clusters', clusters, 'cluster'),
  entry('nodes', 'show, cordon and drain nodes of clusters', nodes, 'node'),
  entry('notify', 'send events to webhooks, chats and e-mail', notify),
  entry('usage', 'show GPU hours and cost of a period', usage),
  entry('plan', 'show the command that a spec or a recipe would run', plan),
  entry('preflight', 'check a spec on a cluster before it takes a GPU', preflight),
];

const FILES: Entry[] = Object.entries(FILE_COMMANDS).map(([name, summary]) => ({
  name,
  summary,
  async load({ streams, output }) {
    // Of an experiment, too.
    if (name === 'verify') return (await import('./commands/verify.ts')).verifyCommand(streams, output);
    if (name === 'signal') return (await import('./commands/signal.ts')).signalCommand(streams, output);
    const { fileCommands } = await import('echelon-verify/cli/file-commands');
    return fileCommands(streams).find((command) => command.name() === name)!;
  },
}));

const ACCESS: Entry[] = [
  entry('projects', 'manage projects, quotas and retention', projects, 'project'),
  entry('keys', 'manage API keys', access, 'key'),
  entry('whoami', 'show the API and the scopes of your token', access),
  entry('audit', 'list changes and refused requests', access),
  entry('mcp', 'serve the API as tools for coding agents', mcp),
  entry('login', 'sign in with your organisation, in the browser', login),
  entry('completion', 'print a completion script for bash, zsh or fish', completion),
];

const FLEET: Entry[] = [
  entry('api', 'run the API server', servers),
  entry('dispatcher', 'run a dispatcher', servers),
  entry('support-bundle', 'write a file with what others need to find a fault', supportBundle),
  entry('backup', 'back up, verify and restore an installation', backup),
];

/** The commands in the order of the help, from what a newcomer needs to what an operator needs. */
export const COMMANDS: readonly [heading: string, entries: readonly Entry[]][] = [
  ['Start here:', START],
  ['Experiments:', EXPERIMENTS],
  ['Sweeps:', SWEEPS],
  ['Queues and clusters:', CLUSTERS],
  ['Offline (no server):', FILES],
  ['Access and settings:', ACCESS],
  ['Servers of a fleet:', FLEET],
];

/** The command of an entry, with its summary. */
export async function loaded(entry: Entry, streams: Streams): Promise<Command> {
  return (await entry.load(streams)).summary(entry.summary);
}
