/** Settings that lower the memory that an engine takes, as pointers into its spec, the most helpful first. */
export const MEMORY_SETTINGS: Readonly<Record<string, { gpu: readonly string[]; host: readonly string[] }>> =
  {
    'verl-agent': {
      gpu: [
        '/training/microBatchSizePerGpu',
        '/rollout/logProbMicroBatchSizePerGpu',
        '/rollout/gpuMemoryUtilization',
        '/training/parameterOffload',
        '/training/optimizerOffload',
      ],
      host: [
        '/rollout/groups',
        '/rollout/groupSize',
        '/training/parameterOffload',
        '/training/optimizerOffload',
      ],
    },
    local: { gpu: [], host: ['/rollout/groups', '/rollout/groupSize', '/environment/maxSteps'] },
    replay: { gpu: [], host: [] },
  };

/** What to change after an engine ran out of memory; `message`: how the ray-worker said it. Empty: nothing is known. */
export function memoryAdvice(engine: string, message: string): string {
  const known = MEMORY_SETTINGS[engine];
  if (known === undefined) return '';
  if (/GPU|CUDA/.test(message) && known.gpu.length > 0) {
    const [micro, logProb, utilization, ...offload] = known.gpu;
    return `lower ${micro}, ${logProb} or ${utilization}, or set ${offload.join(' and ')} to true`;
  }
  if (known.host.length === 0) return '';
  const [first, second, ...others] = known.host;
  const lower = `lower ${first} or ${second}`;
  if (others.length === 0) return lower;
  if (engine === 'verl-agent') return `${lower}, or set ${others.join(' and ')} to false`;
  return `${lower}, or ${others.join(' or ')}`;
}
