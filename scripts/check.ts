// What CI checks besides the tests: types, lint and format, words, links, imports, generated files unchanged.
import { spawnSync } from 'node:child_process';

const STEPS: [what: string, command: string, args: string[]][] = [
  ['types', 'tsc', ['-p', '.']],
  ['types of the dashboard', 'tsc', ['-p', 'packages/echelon-dashboard']],
  ['lint and format', 'biome', ['check', '--error-on-warnings', '.']],
  // Before the words and the links, because it makes the pages in docs/gen.
  ['generated files', process.execPath, ['scripts/generate.ts', '--check']],
  ['words', process.execPath, ['scripts/check-words.ts']],
  ['links', process.execPath, ['scripts/check-links.ts']],
  ['imports', process.execPath, ['--test', '--test-reporter=dot', 'test/pure/architecture.test.ts']],
];

let failed = false;
for (const [what, command, args] of STEPS) {
  const started = Date.now();
  const { status } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` },
  });
  const outcome = status === 0 ? 'ok' : 'FAILED';
  console.log(`check: ${what} ${outcome} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  failed ||= status !== 0;
}
process.exit(failed ? 1 : 0);
