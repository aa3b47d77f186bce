// `npm run check:verl-agent -- --home DIR [--gpu | --training] [--python PATH]`: proves on a real verl-agent checkout
// that the engine fits it; with --training by real trainings on the CPU. The Python given (default: the project's own
// environment) needs torch, hydra-core and pyarrow, and what the checkout's recipe imports; docs/evidence/verl-agent-check.md
// says which and records an output.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    gpu: { type: 'boolean' },
    training: { type: 'boolean' },
    python: { type: 'string' },
  },
});
if (values.home === undefined) {
  console.error('error: --home DIR is missing: a verl-agent checkout with recipe/hgpo');
  process.exit(2);
}
const { status, error } = spawnSync(
  values.python ?? join(root, '.venv/bin/python'),
  [
    join(root, `scripts/check-verl-agent${values.training ? '-training' : ''}.py`),
    `--home=${values.home}`,
    `--node=${process.execPath}`,
    ...(values.gpu ? ['--gpu'] : []),
  ],
  { stdio: 'inherit' },
);
if (error) console.error(`error: ${error.message}`);
process.exit(status ?? 1);
