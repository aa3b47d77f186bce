import type { Command } from 'commander';
import type { TextStreams } from 'echelon-verify/cli/batch-files';
import type { Output } from 'echelon-verify/cli/output';

/** Where commands write. */
export interface Streams {
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

const START: Entry[] = [
  {
    name: 'demo',
    summary: 'run everything once on this machine',
    load: async ({ output }) => (await import('./commands/servers.ts')).demoCommand(output),
  },
  {
    name: 'up',
    summary: 'start Echelon on this machine and keep it running',
    load: async ({ output }) => (await import('./commands/servers.ts')).upCommand(output),
  },
  {
    name: 'down',
    summary: 'stop `echelon up`',
    load: async ({ output }) => (await import('./commands/servers.ts')).downCommand(output),
  },
  {
    name: 'open',
    summary: 'open the dashboard in the browser',
    load: async ({ output }) => (await import('./commands/open.ts')).openCommand(output),
  },
  {
    name: 'doctor',
    summary: 'check the requirements on this machine',
    load: async ({ output }) => (await import('./commands/doctor.ts')).doctorCommand(output),
  },
  {
    name: 'help',
    summary: 'show the help of a command',
    load: async () => (await import('./commands/help.ts')).helpCommand(),
  },
];

/** The verbs on experiments; `echelon experiments VERB` and `echelon VERB` are the same. */
const EXPERIMENT_VERBS: Entry[] = [
  {
    name: 'submit',
    summary: 'submit an experiment from a file',
    load: async ({ output }) => (await import('./commands/submit.ts')).submitCommand(output),
  },
  {
    name: 'ls',
    summary: 'list experiments',
    load: async ({ output }) => (await import('./commands/experiments.ts')).listCommand(output),
  },
  {
    name: 'get',
    summary: 'show an experiment',
    load: async ({ output }) => (await import('./commands/experiments.ts')).getCommand(output),
  },
  {
    name: 'watch',
    summary: 'follow an experiment, a sweep or a project live',
    load: async ({ output }) => (await import('./commands/watch.ts')).watchCommand(output),
  },
  {
    name: 'logs',
    summary: 'print the output of the driver',
    load: async ({ output }) => (await import('./commands/logs.ts')).logsCommand(output),
  },
  {
    name: 'metrics',
    summary: 'show metrics',
    load: async ({ output }) => (await import('./commands/metrics.ts')).metricsCommand(output),
  },
  {
    name: 'batches',
    summary: 'show the verification of batches and rows',
    load: async ({ output }) => (await import('./commands/batches.ts')).batchesCommand(output),
  },
  {
    name: 'verify-again',
    summary: 'verify the batches again that could not be verified',
    load: async ({ output }) => (await import('./commands/verify-again.ts')).verifyAgainCommand(output),
  },
  {
    name: 'bundle',
    summary: 'write a batch to a file that can be verified offline',
    load: async ({ output }) => (await import('./commands/bundle.ts')).bundleCommand(output),
  },
  {
    name: 'rules',
    alias: 'rule',
    summary: 'show the rules of an experiment',
    load: async ({ output }) => (await import('./commands/rules.ts')).rulesCommand(output),
  },
  {
    name: 'attempts',
    summary: 'list the attempts of an experiment',
    load: async ({ output }) => (await import('./commands/records.ts')).attemptsCommand(output),
  },
  {
    name: 'artifacts',
    summary: 'list the checkpoints of an experiment',
    load: async ({ output }) => (await import('./commands/records.ts')).artifactsCommand(output),
  },
  {
    name: 'diff',
    summary: 'compare two experiments',
    load: async ({ output }) => (await import('./commands/diff.ts')).diffCommand(output),
  },
  {
    name: 'rerun',
    summary: 'run an experiment again',
    load: async ({ output }) => (await import('./commands/records.ts')).rerunCommand(output),
  },
  {
    name: 'priority',
    summary: 'change the priority of a queued experiment',
    load: async ({ output }) => (await import('./commands/queues.ts')).priorityCommand(output),
  },
  {
    name: 'cancel',
    summary: 'cancel experiments or sweeps',
    load: async ({ output }) => (await import('./commands/cancel-delete.ts')).cancelCommand(output),
  },
  {
    name: 'delete',
    summary: 'delete experiments or the experiments of sweeps',
    load: async ({ output }) => (await import('./commands/cancel-delete.ts')).deleteCommand(output),
  },
];

const EXPERIMENTS: Entry[] = [
  {
    name: 'experiments',
    alias: 'experiment',
    summary: 'the commands below under one name; alone, `ls`',
    async load(streams) {
      const { group } = await import('./group.ts');
      const verbs = EXPERIMENT_VERBS.map(async (entry) => loaded(entry, streams));
      const description =
        'The commands on experiments under one name: `echelon experiments get` is `echelon get`. Without a command, list the experiments.';
      return group({ name: 'experiments', alias: 'experiment', description }, await Promise.all(verbs));
    },
  },
  ...EXPERIMENT_VERBS,
];

const SWEEPS: Entry[] = [
  {
    name: 'sweeps',
    alias: 'sweep',
    summary: 'run one spec with many values, compare the results',
    load: async ({ output }) => (await import('./commands/sweeps.ts')).sweepsCommand(output),
  },
  {
    name: 'presets',
    alias: 'preset',
    summary: "run the sweeps that reproduce the paper's tables",
    load: async ({ output }) => (await import('./commands/presets.ts')).presetsCommand(output),
  },
];

const CLUSTERS: Entry[] = [
  {
    name: 'queues',
    alias: 'queue',
    summary: 'show, pause and close queues',
    load: async ({ output }) => (await import('./commands/queues.ts')).queuesCommand(output),
  },
  {
    name: 'clock',
    summary: 'compare and confirm the clock of Redis',
    load: async ({ output }) => (await import('./commands/clock.ts')).clockCommand(output),
  },
  {
    name: 'clusters',
    alias: 'cluster',
    summary: 'add, pause, drain and delete Ray clusters',
    load: async ({ output }) => (await import('./commands/clusters.ts')).clustersCommand(output),
  },
  {
    name: 'plan',
    summary: 'show the command that a spec or a recipe would run',
    load: async ({ output }) => (await import('./commands/plan.ts')).planCommand(output),
  },
  {
    name: 'preflight',
    summary: 'check a spec on a cluster before it takes a GPU',
    load: async ({ output }) => (await import('./commands/preflight.ts')).preflightCommand(output),
  },
  {
    name: 'ray',
    summary: 'inspect any Ray cluster, call functions on it',
    load: async ({ output }) => (await import('./commands/ray.ts')).rayCommand(output),
  },
];

const fileCommand = (name: string, summary: string): Entry => ({
  ...{ name, summary },
  async load({ streams }) {
    const { fileCommands } = await import('echelon-verify/cli/commands/files');
    return fileCommands(streams).find((command) => command.name() === name)!;
  },
});

const OFFLINE: Entry[] = [
  fileCommand('verify', 'verify every advantage of recorded batches'),
  fileCommand('explain', 'explain the advantage of a row'),
  fileCommand('estimate', 'estimate the advantages with any estimator'),
  fileCommand('compare', 'compare several estimators'),
  fileCommand('identify', 'identify the estimator of given advantages'),
  {
    name: 'recipes',
    summary: 'list the scripts of verl-agent',
    load: async ({ output }) => (await import('./commands/recipes.ts')).recipesCommand(output),
  },
];

const ACCESS: Entry[] = [
  {
    name: 'projects',
    alias: 'project',
    summary: 'manage projects, quotas and retention',
    load: async ({ output }) => (await import('./commands/projects.ts')).projectsCommand(output),
  },
  {
    name: 'keys',
    alias: 'key',
    summary: 'manage API keys',
    load: async ({ output }) => (await import('./commands/access.ts')).keysCommand(output),
  },
  {
    name: 'whoami',
    summary: 'show the API and the scopes of your token',
    load: async ({ output }) => (await import('./commands/access.ts')).whoamiCommand(output),
  },
  {
    name: 'audit',
    summary: 'list changes and refused requests',
    load: async ({ output }) => (await import('./commands/audit.ts')).auditCommand(output),
  },
  {
    name: 'retention',
    summary: 'show what retention would delete now',
    load: async ({ output }) => (await import('./commands/retention.ts')).retentionCommand(output),
  },
  {
    name: 'config',
    summary: 'manage contexts: APIs by name',
    load: async ({ output }) => (await import('./commands/config.ts')).configCommand(output),
  },
  {
    name: 'completion',
    summary: 'print a completion script for bash or zsh',
    load: async ({ output }) => (await import('./commands/completion.ts')).completionCommand(output),
  },
  {
    name: 'version',
    summary: 'print the versions of Echelon and of Node',
    load: async ({ output }) => (await import('./commands/version.ts')).versionCommand(output),
  },
];

const FLEET: Entry[] = [
  {
    name: 'api',
    summary: 'run the API server',
    load: async ({ output }) => (await import('./commands/servers.ts')).apiServerCommand(output),
  },
  {
    name: 'dispatcher',
    summary: 'run a dispatcher',
    load: async ({ output }) => (await import('./commands/servers.ts')).dispatcherCommand(output),
  },
];

/** The commands in the order of the help, from what a newcomer needs to what an operator needs. */
export const COMMANDS: readonly [heading: string, entries: readonly Entry[]][] = [
  ['Start here:', START],
  ['Experiments:', EXPERIMENTS],
  ['Sweeps:', SWEEPS],
  ['Queues and clusters:', CLUSTERS],
  ['Offline (no server):', OFFLINE],
  ['Access and settings:', ACCESS],
  ['Servers of a fleet:', FLEET],
];

/** The command of an entry, with its summary. */
export async function loaded(entry: Entry, streams: Streams): Promise<Command> {
  return (await entry.load(streams)).summary(entry.summary);
}
