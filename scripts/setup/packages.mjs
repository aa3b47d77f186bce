// The npm packages, with Node 24 among them, and the sources that are generated with them. Plain JavaScript, see ../setup.mjs.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { staleSources } from '../sources.mjs';
import { digestOf, output, root, run, SetupError, stampOf, step } from './commands.mjs';

/** Installs what package-lock.json pins, if that is not there yet, and generates the sources. Returns the path of Node. */
export async function installPackages() {
  const stamp = join(root, 'node_modules/.echelon-setup');
  const wanted = digestOf(join(root, 'package-lock.json'));
  if (stampOf(stamp) !== wanted) {
    await step('downloading the npm packages and Node 24 (200 MB)', async () => {
      await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
      removeHeaders();
      writeFileSync(stamp, wanted);
    });
  }
  const node = findNode();
  const stale = staleSources();
  if (stale.length > 0)
    await step(`generating the clients and the dashboard (${stale.length} folders)`, () =>
      run(node, [join(root, 'scripts/sources.mjs')]),
    );
  return node;
}

/** The headers of Node are for packages in C++, of which none is compiled here: 67 MB. */
function removeHeaders() {
  const folder = join(root, 'node_modules/node/node_modules');
  if (!existsSync(folder)) return;
  const ofPlatforms = readdirSync(folder).filter((name) => name.startsWith('node-'));
  for (const name of ofPlatforms) rmSync(join(folder, name, 'include'), { recursive: true, force: true });
}

/** Path of a Node of version 24 or newer; the pinned one if it is installed. */
function findNode() {
  const pinned = join(root, 'node_modules/.bin/node');
  const major = (path) => Number(/^v(\d+)/.exec(output(path, ['--version']))?.[1] ?? 0);
  for (const path of [pinned, process.execPath, 'node']) if (major(path) >= 24) return path;
  throw new SetupError(
    `Node 24 is missing: the npm package \`node\` is installed, but its install script did not run, so its program did
       not arrive. npm blocks install scripts where \`ignore-scripts\` is set or the package is not approved. Do one of:
         npm rebuild node --ignore-scripts=false --foreground-scripts
         install Node 24 or newer yourself, so that \`node --version\` says v24 or more
       and run the command again.`,
  );
}
