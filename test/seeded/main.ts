/**
 * Tries whether the default tests find seeded defects: `node test/seeded/main.ts [--only ID,…]`. Each defect of defects.ts is made in
 * a copy of the tree, in which its tests must fail, and without which they must pass. Needs redis-server. Writes
 * the rows of docs/evidence/seeded-defects.md that were tried. Ends with 1 if one was missed.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Copy, copyTree } from './copy.ts';
import { DEFECTS, type Defect } from './defects.ts';

const PAGE = new URL('../../docs/evidence/seeded-defects.md', import.meta.url);

/** `caughtBy`: the file and its first test that failed; undefined: none did. */
interface Tried extends Defect {
  readonly caughtBy: { readonly file: string; readonly test: string } | undefined;
}

/** `clean`: the files that are known to pass without a defect. */
function tryDefect(copy: Copy, defect: Defect, clean: Set<string>): Tried {
  for (const file of defect.tests) {
    const before = clean.has(file) ? undefined : copy.firstFailure(file);
    if (before !== undefined) throw new Error(`${file} fails without a defect: ${before}`);
    clean.add(file);
    const restore = copy.seed(defect);
    const test = copy.firstFailure(file);
    restore();
    if (test !== undefined) return { ...defect, caughtBy: { file, test } };
  }
  return { ...defect, caughtBy: undefined };
}

function rowOf({ id, area, file, breaks, caughtBy }: Tried): string {
  const caught = caughtBy
    ? `\`${caughtBy.file}\` | ${caughtBy.test.replaceAll('|', '\\|')}`
    : '– | **missed**';
  return `| \`${id}\` | ${area} | ${breaks} | \`${file}\` | ${caught} |`;
}

/** Replaces the rows of the page that were tried. */
function writePage(tried: readonly Tried[]): void {
  const page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const rows = new Map([...page.matchAll(/^\| `([\w-]+)` .*$/gm)].map(([row, id]) => [id!, row]));
  for (const one of tried) rows.set(one.id, rowOf(one));
  const shown = DEFECTS.flatMap(({ id }) => rows.get(id) ?? []);
  const text = `# Seeded defects

\`node test/seeded/main.ts\` makes one small defect after another in a copy of the tree and runs the tests that must fail with it. All of
them are tests of \`npm test\`, and they pass without the defect. \`test/seeded\` has each edit.

**${shown.filter((row) => !row.includes('**missed**')).length} of ${DEFECTS.length} are caught.**

| defect | area | what it breaks | in | caught by | first failing test |
| --- | --- | --- | --- | --- | --- |
${shown.join('\n')}
`;
  writeFileSync(PAGE, text);
}

const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
const chosen = DEFECTS.filter(({ id }) => only === undefined || only.split(',').includes(id));
if (chosen.length === 0)
  throw new Error(`--only takes one of ${DEFECTS.map(({ id }) => id).join(', ')}, not ${only}`);
using copy = copyTree();
const clean = new Set<string>();
const tried = chosen.map((defect) => {
  const one = tryDefect(copy, defect, clean);
  const { caughtBy } = one;
  console.log(`${one.id}: ${caughtBy ? `caught by ${caughtBy.file}: ${caughtBy.test}` : 'MISSED'}`);
  return one;
});
writePage(tried);
if (tried.some(({ caughtBy }) => caughtBy === undefined)) process.exitCode = 1;
