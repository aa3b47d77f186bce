import { type Static, Type } from 'typebox';
import { NamedObject } from '../../schemas/objects.ts';
import { CpuResources, commonFields } from '../../schemas/spec-parts.ts';
import { CheckpointReference, type ResolvedCheckpoint } from '../checkpoint-reference.ts';
import type { Resolved } from '../engine.ts';

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
export type ResolvedExport = Resolved<VerlAgentExportSpec, 'checkpoint' | 'output'> & {
  checkpoint: ResolvedCheckpoint;
  output: string | null;
};
