import type { FieldProblem } from '../core/errors.ts';
import type { Secrets } from '../schemas/secrets.ts';
import type { Variables } from '../schemas/spec-parts.ts';
import { isBelow } from './directories.ts';
import type { Permissions } from './engine.ts';

/** Variables that only the ray-worker, Ray or another field of a spec sets, and why. */
const RESERVED: readonly (readonly [names: RegExp, reason: string])[] = [
  [/^ECHELON_/, 'is a variable of Echelon itself'],
  [/^RAY_/, 'is a variable of Ray, which connects the driver to its cluster'],
  [/^(PATH|PYTHONPATH|HOME|SHELL|USER)$|^LD_/, 'decides which programs and libraries run'],
  [/^CUDA_VISIBLE_DEVICES$/, 'is set by Ray, which assigns the GPUs'],
  [/^VLLM_ATTENTION_BACKEND$/, 'has a field of its own: set rollout.attentionBackend'],
];

/** Variables that name no code, no place and no address: every caller may set them. */
const HARMLESS = new Set(
  `HF_HUB_OFFLINE HF_DATASETS_OFFLINE TRANSFORMERS_OFFLINE TOKENIZERS_PARALLELISM WANDB_PROJECT
  WANDB_ENTITY WANDB_MODE WANDB_NAME WANDB_NOTES WANDB_TAGS WANDB_RUN_GROUP WANDB_JOB_TYPE
  MLFLOW_EXPERIMENT_NAME SWANLAB_MODE SWANLAB_WORKSPACE CLEARML_PROJECT CLEARML_TASK
  CLEARML_OFFLINE_MODE NCCL_DEBUG TZ`.split(/\s+/),
);

/** Variables that name a directory from which models, data or code are read. */
const DIRECTORIES = new Set(
  'HF_HOME HF_HUB_CACHE HF_DATASETS_CACHE ALFWORLD_DATA VERL_AGENT_HOME'.split(' '),
);

/** Variables that no spec and no cluster may set, and those whose value a secret gives as well. */
export function variableProblems(env: Variables = {}, secrets: Secrets = {}): FieldProblem[] {
  return Object.keys(env).flatMap((name) => {
    const field = `/env/${name}`;
    const reason = RESERVED.find(([names]) => names.test(name))?.[1];
    if (reason !== undefined) return [{ field, message: `${reason}; remove it` }];
    if (Object.hasOwn(secrets, name))
      return [{ field, message: 'is also named under /secrets; remove one of the two' }];
    return [];
  });
}

/** Variables of a spec that may load code, or send the cluster's keys elsewhere: they need the scope `custom-code`. */
export function variablePermissionProblems(
  env: Variables = {},
  { customCode = false, codePaths = [] }: Permissions = {},
): FieldProblem[] {
  if (customCode) return [];
  return Object.entries(env)
    .filter(([name, value]) => !HARMLESS.has(name) && !(DIRECTORIES.has(name) && isBelow(value, codePaths)))
    .map(([name]) => ({
      field: `/env/${name}`,
      message: DIRECTORIES.has(name)
        ? 'names a directory from which code or data is loaded: that needs a key with the scope custom-code, or a directory that an administrator has allowed for the cluster'
        : 'may change which code runs or where keys are sent: that needs a key with the scope custom-code, or an administrator who sets it for the cluster (echelon clusters update --env)',
    }));
}
