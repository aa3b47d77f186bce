import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';

const FOLDER = join(import.meta.dirname, '../golden/printed');

/**
 * Compares what commands print with `test/golden/printed/NAME.txt`, by command line; ids
 * are numbered, dates masked. `node --test --test-update-snapshots FILE` renews it: read the difference.
 */
export function assertPrinted(t: TestContext, name: string, printed: Readonly<Record<string, string>>): void {
  const text = Object.entries(printed).map(([command, lines]) => `$ echelon ${command}\n${lines}\n`);
  const ids: string[] = [];
  const numbered = (id: string) => {
    if (!ids.includes(id)) ids.push(id);
    return `${id.slice(0, 4)}${String(ids.indexOf(id) + 1).padStart(id.length - 4, '0')}`;
  };
  const shown = stripVTControlCharacters(text.join('\n'))
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\b\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'YYYY-MM-DDTHH:MM:SS.sssZ')
    .replaceAll(/\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\b/g, 'YYYY-MM-DD HH:MM:SS')
    .replaceAll(/\b(?:exp|swp|cmd)-(?:[0-9a-z]{20}|[0-9a-z]{11})\b/g, numbered);
  t.assert.fileSnapshot(shown, join(FOLDER, `${name}.txt`), { serializers: [(value) => value] });
}
