import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * The folder of a dump, and the one above if its configuration must be that of the same run: `own` is the name of the folder
 * that the trainer makes for its dumps, or no other dump lies in the folder above or in a folder beside.
 */
export function foldersOfRun(dump: string, own?: string): string[] {
  const folder = dirname(dump);
  const above = ['.', '..'].includes(basename(folder)) ? `${folder}/..` : dirname(folder);
  return basename(folder) === own || !hasOthers(above, basename(dump)) ? [folder, above] : [folder];
}

/** True if a dump lies in the folder, or in more than one folder in it. */
function hasOthers(above: string, dump: string): boolean {
  const isDump = (name: string): boolean => shapeOf(name) === shapeOf(dump);
  const names = namesIn(above);
  return names.some(isDump) || names.filter((name) => namesIn(join(above, name)).some(isDump)).length > 1;
}

/** Equal for names that differ in numbers only, as those of steps do. */
function shapeOf(name: string): string {
  return name.replaceAll(/\d+/g, '0');
}

/** Nothing for what is no folder, or cannot be listed. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
