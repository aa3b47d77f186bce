import { type Static, Type } from 'typebox';
import { MAX_FILE_BYTES, MAX_FILES } from '../../core/launch-plan.ts';
import { METRIC_NAME } from '../../core/metric-name.ts';
import { DescribedObject, NamedObject, strict } from '../../schemas/objects.ts';
import { choice } from '../../schemas/optional-fields.ts';
import { commonFields } from '../../schemas/spec-parts.ts';
import type { Resolved } from '../engine.ts';

/** Relative, without `..`: it cannot leave the directory that it starts from, symbolic links aside. */
const RELATIVE_PATH = '^(?!\\/)(?!(?:[^/]*\\/)*\\.\\.(?:\\/|$))[^\\u0000-\\u001f\\u007f\\\\]{1,255}$';

const path = (description: string) =>
  Type.String({
    maxLength: 255,
    pattern: RELATIVE_PATH,
    description: `${description} A relative path without \`..\`.`,
  });

const WITHOUT_NUL = { pattern: '^[^\\u0000]*$', description: 'Text without NUL' } as const;

const Argument = Type.String({ maxLength: 65_536, ...WITHOUT_NUL });

const argv = (description: string) => Type.Array(Argument, { minItems: 1, maxItems: 256, description });

/** One `{number}` with fixed text around it. */
const LinePattern = Type.String({
  pattern: '^[^\\u0000-\\u001f\\u007f{}]{0,200}\\{number\\}[^\\u0000-\\u001f\\u007f{}]{0,200}$',
  description:
    'Fixed text with one {number}; a blank stands for any number of blanks. Words and numbers are found whole.',
});

/** Where metrics are found: exactly one field. */
const MetricSource = DescribedObject(
  'Where the metrics of the program are found: exactly one field. Default: nowhere.',
  {
    lines: Type.Optional(
      Type.Record(Type.String({ pattern: METRIC_NAME }), LinePattern, {
        ...strict,
        maxProperties: 64,
        description:
          'Patterns of metrics in the printed lines, by name, e.g. `loss: "loss = {number}"`. The pattern `step` finds the training step. Lines beyond 2,000 characters are ignored.',
      }),
    ),
    jsonPrefix: Type.Optional(
      Type.String({
        pattern: '^[^\\u0000-\\u001f\\u007f]{0,100}$',
        description:
          'Printed lines that begin with this text hold a JSON object after it: its `step`, and metrics. "" takes lines that are JSON objects.',
      }),
    ),
    jsonFile: Type.Optional(
      path('File in the working directory to which the program appends JSON objects, one a line.'),
    ),
    tensorboard: Type.Optional(path('Directory in the working directory with event files of TensorBoard.')),
  },
);

/** A Python environment that Ray makes for the program. Images are no part of it: Ray mounts no shared root into their containers. */
const RuntimeEnv = DescribedObject(
  "Python environment that Ray sets up for the program on each node: exactly one field, which the cluster must allow. Default: the environment of Ray's nodes.",
  {
    pip: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[^\\u0000-\\u001f\\u007f]{1,500}$',
          description: '1 to 500 characters without control characters',
        }),
        {
          minItems: 1,
          maxItems: 64,
          description:
            "Requirements of pip, which are installed over the packages of Ray's nodes, such as `torch==2.9.1` or the path of a wheel.",
        },
      ),
    ),
    conda: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
        description:
          'Name of a conda environment that every node has. It needs the versions of Python and Ray of the cluster.',
      }),
    ),
  },
);

/** Any program of the user's own. */
export const CommandSpec = NamedObject('CommandSpec', {
  ...commonFields,
  engine: Type.Literal('command'),
  command: argv(
    'Program and arguments, never read by a shell. `{name}` is replaced by `parameters.name`. An argument is omitted if its parameter is null, or if it contains `{?name}` and the parameter is false. {sharedRoot}, {experimentDir} and {attemptDir} are replaced by the directories of the cluster.',
  ),
  parameters: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[a-z][A-Za-z0-9_]{0,63}$' }),
      Type.Union([
        Type.Null(),
        Type.Boolean(),
        Type.Number({ minimum: -1e15, maximum: 1e15 }),
        Type.String({ maxLength: 1000, ...WITHOUT_NUL }),
      ]),
      {
        ...strict,
        maxProperties: 64,
        description:
          'Values for `{name}` in the arguments; null omits the argument. A sweep sets them with axes such as `parameters.lr`.',
      },
    ),
  ),
  workingDir: Type.Optional(
    path(
      "Directory below the cluster's shared root in which the program starts. Default: an empty directory of the attempt.",
    ),
  ),
  files: Type.Optional(
    Type.Record(
      Type.String({ maxLength: 255, pattern: RELATIVE_PATH }),
      Type.String({ maxLength: MAX_FILE_BYTES, ...WITHOUT_NUL }),
      {
        ...strict,
        maxProperties: MAX_FILES,
        description:
          'Text files of the program by relative path, 128 KiB in all. The program starts in a new directory that holds them. The command line takes the path of a folder instead and reads its files. Replaces `workingDir`.',
      },
    ),
  ),
  start: choice(
    ['per-node', 'once'],
    '`per-node` starts the program on each allocated node, and Ray reserves its GPUs and CPUs. `once` starts it on the first node and reserves nothing: for a program that takes its resources from Ray by itself. Default: per-node.',
  ),
  runtimeEnv: Type.Optional(RuntimeEnv),
  resume: Type.Optional(
    argv(
      'Arguments that are appended if an earlier attempt reported a checkpoint; {checkpoint} is its path. Default: a further attempt starts like the first.',
    ),
  ),
  metrics: Type.Optional(MetricSource),
  batches: Type.Optional(
    path(
      'Directory in the working directory in which the program writes files in the format echelon-batch/1. Default: only batches of the capture package.',
    ),
  ),
});
export type CommandSpec = Static<typeof CommandSpec>;
type Optional = 'workingDir' | 'files' | 'runtimeEnv' | 'resume' | 'metrics' | 'batches' | 'parameters';

/** A resolved {@link CommandSpec}; null: the field is not set. */
export type ResolvedCommand = Resolved<CommandSpec, Optional> & {
  [K in Exclude<Optional, 'parameters'>]: NonNullable<CommandSpec[K]> | null;
} & { parameters: NonNullable<CommandSpec['parameters']> };
