import { dirname, join } from 'node:path';
import { BatchFormatError } from '../format/format-error.ts';
import { foldersOfRun } from './run-folders.ts';
import { withSource } from './source.ts';

/** Settings by name: values of any kind. */
export type Settings = Readonly<Record<string, unknown>>;

/** A larger file is not a configuration. */
const MAX_BYTES = 2 ** 20;

/**
 * The `config.yaml` near a file (in the folders of its run; as Hydra writes it, in `.hydra`) that has the section. Undefined if there is none that can be read.
 */
export async function findConfigYaml(
  file: string,
  section: string,
): Promise<{ file: string; settings: Settings } | undefined> {
  const folders = foldersOfRun(file);
  for (const folder of new Set([...folders, dirname(dirname(file))])) {
    // Hydra makes one folder for each run.
    const places = folders.includes(folder) ? ['config.yaml', '.hydra/config.yaml'] : ['.hydra/config.yaml'];
    for (const place of places.map((name) => join(folder, name))) {
      const settings = settingsOf(await readYaml(place));
      if (settings !== undefined && settingsOf(settings[section]) !== undefined)
        return { file: place, settings };
    }
  }
  return undefined;
}

/** The value if it is a mapping. */
export function settingsOf(value: unknown): Settings | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Settings)
    : undefined;
}

/** The value of a YAML file; undefined if there is none that can be read. */
export async function readYaml(place: string): Promise<unknown> {
  const bytes = await readSmall(place);
  if (bytes === undefined) return undefined;
  const { parse } = await import('yaml');
  try {
    // Warnings, as for tags of Python, are not printed; errors are thrown.
    return parse(Buffer.from(bytes).toString('utf8'), { logLevel: 'error' });
  } catch {
    return undefined;
  }
}

/** The bytes of a file that is small enough for a configuration; undefined if there is none. */
export async function readSmall(place: string, maxBytes = MAX_BYTES): Promise<ArrayBuffer | undefined> {
  try {
    return await withSource(place, async (source) =>
      source.byteLength > maxBytes ? undefined : await source.slice(0),
    );
  } catch (error) {
    if (error instanceof BatchFormatError || (error as NodeJS.ErrnoException).code !== undefined)
      return undefined;
    throw error;
  }
}
