// Counts the lines that people write, by folder: tracked text without generated files, locks, golden data and symbolic links.
// `node scripts/count-lines.ts [DEPTH]`
import { execFileSync } from 'node:child_process';
import { globSync, lstatSync, readFileSync } from 'node:fs';
import { GENERATED } from './generated.ts';

const generated = new Set(globSync(GENERATED));
const OMITTED = /(^|\/)gen\/|^test\/golden\/|\.lock$|(^|\/)package-lock\.json$/;

function linesOf(path: string): number {
  if (OMITTED.test(path) || generated.has(path) || !lstatSync(path).isFile()) return 0;
  const bytes = readFileSync(path);
  return bytes.includes(0) ? 0 : bytes.toString('latin1').split('\n').length - 1;
}

const depth = Number(process.argv[2] ?? 1);
const counts = new Map<string, number>();
for (const path of execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  .split('\0')
  .filter(Boolean)) {
  const folder = path.split('/').slice(0, -1).slice(0, depth).join('/') || '.';
  counts.set(folder, (counts.get(folder) ?? 0) + linesOf(path));
}
const total = [...counts.values()].reduce((sum, lines) => sum + lines, 0);
for (const [folder, lines] of [...counts, ['total', total] as const])
  console.log(String(lines).padStart(8), folder);
