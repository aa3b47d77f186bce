/** Bytes of a parameter in Hugging Face's format, as verl-agent exports it (bfloat16). */
export const EXPORTED_BYTES = 2;

/** Parameters of Qwen2.5 by the size in their names, in billions. */
const QWEN: Readonly<Record<string, number>> = {
  '0.5': 0.494,
  '1.5': 1.544,
  '3': 3.086,
  '7': 7.616,
  '14': 14.77,
  '32': 32.76,
  '72': 72.71,
};

/** A model's parameters as its name states them (`…-1.5B-…`); undefined if it does not. */
export function parametersOf(path: string): number | undefined {
  const name = path.split('/').findLast((part) => part !== '') ?? '';
  const size = /(?<![\d.])(\d+(?:\.\d+)?)[bB](?![A-Za-z])/.exec(name)?.[1];
  if (size === undefined) return undefined;
  return 1e9 * ((/qwen2\.5/i.test(name) ? QWEN[size] : undefined) ?? Number(size));
}

/** `18.5 GB`, in powers of ten as disks are sold. */
export function gigabytes(bytes: number): string {
  const value = bytes / 1e9;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} GB`;
}
