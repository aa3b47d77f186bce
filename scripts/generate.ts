// Makes every generated file that is in the repository anew, and the sources that are not. With --check it changes nothing and fails if a file would have changed.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { makeSources } from './sources.mjs';

/** What the generators below write. */
const GENERATED = [
  'deploy/ray-worker/echelon_rayworker/gen/*.py',
  'docs/assets/tour.svg',
  'docs/gallery/*',
  'docs/reference/cli.md',
  'docs/reference/errors.md',
  'docs/openapi.json',
  'docs/reference/settings.md',
  'docs/reference/estimators.md',
  'docs/reference/fingerprints.md',
  'docs/evidence/detection-power-trainers.md',
  'docs/evidence/step-detection.md',
  'docs/reference/findings.md',
  'docs/reference/metrics.md',
  'docs/reference/spec.md',
  'docs/reference/step-stages.md',
  'deploy/ray-worker/echelon_rayworker/batch.py',
  'deploy/ray-worker/echelon_rayworker/forms.py',
];

const check = process.argv.includes('--check');
const snapshot = (): Map<string, string> =>
  new Map(globSync(GENERATED).map((file) => [file, readFileSync(file, 'utf8')]));

const before = snapshot();
for (const script of globSync('scripts/generate/*.{sh,ts}').sort()) {
  const command = script.endsWith('.sh') ? 'bash' : process.execPath;
  const { status } = spawnSync(command, [script], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` },
  });
  if (status !== 0) {
    console.error(`generate: ${script} failed`);
    process.exit(1);
  }
}
if (!check) await makeSources();
const after = snapshot();
const changed = [...after].filter(([file, text]) => before.get(file) !== text).map(([file]) => file);
if (!check || changed.length === 0) process.exit(0);
for (const [file, text] of before) writeFileSync(file, text);
console.error(
  `generate: not up to date: ${changed.join(', ')}\nRun \`npm run generate\` and commit what changes.`,
);
process.exit(1);
