import { type Static, Type } from 'typebox';
import type { FieldProblem } from '../../core/errors.ts';
import { merge } from '../../core/trees.ts';
import { NamedObject } from '../../schemas/objects.ts';
import { CpuResources, commonFields } from '../../schemas/spec-parts.ts';
import { CheckpointReference, type ResolvedCheckpoint, referenceProblems } from '../checkpoint-reference.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import { projectDirectory } from '../directories.ts';
import type { CheckFinding, Engine, NamedCheckpoint, Resolved } from '../engine.ts';
import { EXPORTED_BYTES, gigabytes, parametersOf } from '../model-size.ts';

/** Exports a checkpoint of a verl-agent training to Hugging Face's format. */
export const VerlAgentExportSpec = NamedObject('VerlAgentExportSpec', {
  ...commonFields,
  resources: Type.Optional(CpuResources),
  engine: Type.Literal('verl-agent-export'),
  checkpoint: CheckpointReference,
  output: Type.Optional(
    Type.String({
      pattern: '^(?!.*\\.\\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$',
      description:
        'Directory of the export below the exports of its project on the shared root: `exports`, or `exports/_projects/PROJECT` for another project than `default`. Default: `global_step_N-huggingface` in the checkpoint directory.',
    }),
  ),
});
export type VerlAgentExportSpec = Static<typeof VerlAgentExportSpec>;

/** A resolved {@link VerlAgentExportSpec}. `output` is null if the export is stored beside the checkpoint. */
type ResolvedExport = Resolved<VerlAgentExportSpec, 'checkpoint' | 'output'> & {
  checkpoint: ResolvedCheckpoint;
  output: string | null;
};

/** Memory of a parameter while shards are merged: the shards in float32, those of one process a second time. */
const MERGED_BYTES = 8;

/** Parameters that one CPU converts. */
const PARAMETERS_PER_CPU = 2e9;

/** Exports checkpoints of the engine `verl-agent`. */
export const VERL_AGENT_EXPORT: Engine<VerlAgentExportSpec, ResolvedExport> = {
  name: 'verl-agent-export',
  summary: 'Exports a checkpoint of a verl-agent training to the Hugging Face format, on CPUs.',
  schema: VerlAgentExportSpec,
  example: {
    engine: 'verl-agent-export',
    name: 'export',
    checkpoint: { directory: 'qwen2.5_1.5b_alfworld_train/k2_hgpo' },
  },
  problems: ({ checkpoint }) => referenceProblems(checkpoint, '/checkpoint'),
  customCode: () => false,
  resolve(spec) {
    const resources = { nodes: 1, gpus: 0, cpus: cpusFor(sizeOf(spec.checkpoint.directory)), nodeLabels: {} };
    return merge({ ...COMMON_DEFAULTS, resources, output: null }, spec) as unknown as ResolvedExport;
  },
  compile: ({ project, checkpoint, output }) => ({
    plan: {
      checkpointDirectory: `${projectDirectory('checkpoints', project)}/${checkpoint.directory}`,
      output: output === null ? '' : `${projectDirectory('exports', project)}/${output}`,
    },
  }),
  fingerprint: () => null,
  check: ({ spec }) => sizeNotes(spec),
  reads: { pointer: '/checkpoint', complete },
};

/** The export of a training that the spec named. */
function complete(spec: VerlAgentExportSpec, training: NamedCheckpoint): VerlAgentExportSpec | FieldProblem {
  const { directory, step, cluster, model, env, home } = training;
  if (model.loraRank > 0) {
    const message = "trains LoRA adapters, which verl-agent's script cannot merge; evaluate it instead";
    return { field: '/checkpoint/experiment', message };
  }
  const checkout = home ?? env.VERL_AGENT_HOME;
  return {
    cluster,
    ...spec,
    checkpoint: { directory, step },
    resources: { cpus: cpusFor(parametersOf(model.path) ?? sizeOf(directory)), ...spec.resources },
    ...(checkout === undefined ? {} : { env: { VERL_AGENT_HOME: checkout, ...spec.env } }),
  };
}

/** Parameters of a training's model, by the recipe in the name of its directory; undefined if it does not say. */
function sizeOf(directory: string | undefined): number | undefined {
  return parametersOf(directory?.split('/')[0] ?? '');
}

function cpusFor(parameters: number | undefined): number {
  const cpus = parameters === undefined ? 4 : Math.ceil(parameters / PARAMETERS_PER_CPU);
  return Math.min(16, Math.max(2, cpus));
}

function sizeNotes({ checkpoint }: ResolvedExport): CheckFinding[] {
  const parameters = sizeOf(checkpoint.directory);
  if (parameters === undefined) return [];
  return [
    {
      check: 'size',
      severity: 'note',
      field: '/checkpoint/directory',
      message: `The export takes about ${gigabytes(parameters * EXPORTED_BYTES)} of disk space, and up to ${gigabytes(parameters * MERGED_BYTES)} of memory on its node.`,
      remedy: 'The preflight compares both with what is free.',
    },
  ];
}
