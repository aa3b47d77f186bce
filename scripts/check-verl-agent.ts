// `npm run check:verl-agent -- --home DIR [--gpu | --training | --all] [--python PATH]`: proves on a real verl-agent checkout
// that the engine fits it; with --training by real trainings on the CPU, with --all in both ways. The Python given (default: the project's own
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
    all: { type: 'boolean' },
    python: { type: 'string' },
  },
});
if (values.home === undefined) {
  console.error('error: --home DIR is missing: a verl-agent checkout with recipe/hgpo');
  process.exit(2);
}
const checks = [
  ...(values.training ? [] : [['check-verl-agent.py', ...(values.gpu ? ['--gpu'] : [])]]),
  ...(values.training || values.all ? [['check-verl-agent-training.py']] : []),
];
let failed = false;
for (const [script, ...flags] of checks) {
  const { status, error } = spawnSync(
    values.python ?? join(root, '.venv/bin/python'),
    [join(root, `scripts/${script}`), `--home=${values.home}`, `--node=${process.execPath}`, ...flags],
    { stdio: 'inherit' },
  );
  if (error) console.error(`error: ${error.message}`);
  failed ||= status !== 0;
}
process.exit(failed ? 1 : 0);
