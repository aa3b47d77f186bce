import type { FieldProblem } from '../../core/errors.ts';
import { MAX_FILE_BYTES } from '../../core/launch-plan.ts';
import { merge } from '../../core/trees.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { Engine } from '../engine.ts';
import { isOmitted, PLACES, unknownParameters, unusedParameters, withParameters } from './arguments.ts';
import { CommandSpec, type ResolvedCommand } from './spec.ts';

const DEFAULTS = {
  ...COMMON_DEFAULTS,
  parameters: {},
  workingDir: null,
  files: null,
  start: 'per-node',
  runtimeEnv: null,
  resume: null,
  metrics: null,
  batches: null,
} as const;

/** Runs a program of the user's own. */
export const COMMAND: Engine<CommandSpec, ResolvedCommand> = {
  name: 'command',
  summary: 'Runs any program of your own on the nodes that are allocated to it.',
  schema: CommandSpec,
  example: {
    engine: 'command',
    name: 'my training',
    command: ['python', 'train.py', '--lr={lr}'],
    parameters: { lr: 0.001 },
    workingDir: 'projects/mine',
  },
  problems: (spec) => [
    ...parameterProblems(spec),
    ...resumeProblems(spec),
    ...sourceProblems(spec),
    ...runtimeEnvProblems(spec),
    ...fileProblems(spec),
    ...nodeProblems(spec),
  ],
  customCode: () => true,
  clusterProblems: ({ runtimeEnv }, { runtimeEnv: allowed }) =>
    Object.keys(runtimeEnv ?? {})
      .filter((name) => allowed !== undefined && !allowed.includes(name))
      .map((name) => ({
        field: `/runtimeEnv/${name}`,
        message: `is not allowed on every cluster that may run the experiment; name a cluster that allows it, or ask an administrator for PATCH /v1/clusters/NAME with {"runtimeEnv": ["${name}"]}`,
      })),
  resolve(spec) {
    const { nodes = 1, gpus = 0 } = spec.resources ?? {};
    const resources = { nodes, gpus, cpus: Math.max(1, nodes * gpus), nodeLabels: {} };
    return merge({ ...DEFAULTS, resources }, spec) as unknown as ResolvedCommand;
  },
  compile: ({ command, resume, parameters }) => ({
    arguments: withParameters(command, parameters),
    plan: { resume: withParameters(resume ?? [], parameters) },
  }),
  // A batch states its own estimator.
  fingerprint: () => null,
};

function parameterProblems({ command, resume = [], parameters = {} }: CommandSpec): FieldProblem[] {
  const taken = PLACES.filter((name) => Object.hasOwn(parameters, name)).map((name) => ({
    field: `/parameters/${name}`,
    message: `is a placeholder of the cluster; use another name`,
  }));
  const unused = unusedParameters([...command, ...resume], parameters).map((name) => ({
    field: `/parameters/${name}`,
    message: `has no effect, because no argument contains {${name}}; write it into /command or remove it`,
  }));
  const omitted = isOmitted(command[0]!, parameters)
    ? [
        {
          field: '/command/0',
          message: 'is the program, which cannot be omitted; give its parameter a value',
        },
      ]
    : [];
  const unknown = [
    ...unknownParameters(command, parameters, '/command'),
    ...unknownParameters(resume, parameters, '/resume'),
  ];
  return [...taken, ...unused, ...unknown, ...omitted];
}

function resumeProblems({ resume }: CommandSpec): FieldProblem[] {
  if (resume === undefined || resume.some((argument) => argument.includes('{checkpoint}'))) return [];
  return [{ field: '/resume', message: 'must contain {checkpoint}, the path of the checkpoint' }];
}

function sourceProblems({ metrics }: CommandSpec): FieldProblem[] {
  if (metrics === undefined) return [];
  const sources = Object.keys(metrics);
  if (sources.length !== 1)
    return [{ field: '/metrics', message: `must have exactly one field, but it has ${sources.length}` }];
  if (metrics.lines === undefined) return [];
  if (!Object.hasOwn(metrics.lines, 'step'))
    return [{ field: '/metrics/lines/step', message: 'is missing; it finds the training step' }];
  if (Object.keys(metrics.lines).length > 1) return [];
  return [{ field: '/metrics/lines', message: 'must have the pattern of a metric beside step' }];
}

function runtimeEnvProblems({ runtimeEnv }: CommandSpec): FieldProblem[] {
  const names = Object.keys(runtimeEnv ?? {});
  if (runtimeEnv === undefined || names.length === 1) return [];
  return [{ field: '/runtimeEnv', message: `must have exactly one field, but it has ${names.length}` }];
}

function nodeProblems({ resources: { nodes = 1, gpus = 0 } = {}, start }: CommandSpec): FieldProblem[] {
  if (nodes === 1 || gpus > 0) return [];
  return [
    {
      field: '/resources/nodes',
      message: `must be 1 without GPUs, because the CPUs are then on one node; set resources.gpus${start === 'once' ? '' : ' for several nodes'}`,
    },
  ];
}

function fileProblems({ files, workingDir }: CommandSpec): FieldProblem[] {
  if (files === undefined) return [];
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const large = `must have at most ${MAX_FILE_BYTES} bytes in all, but has ${bytes}; put the program on the shared root and name it in workingDir`;
  return [
    ...(bytes > MAX_FILE_BYTES ? [{ field: '/files', message: large }] : []),
    ...(workingDir === undefined
      ? []
      : [{ field: '/workingDir', message: 'has no effect with /files; remove one of the two' }]),
  ];
}
