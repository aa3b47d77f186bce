import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { connect } from 'echelon-client';
import { bundle } from '../../../scripts/bundle.ts';
import { NO_BROWSER, openBrowser, openPage } from '../../support/browser.ts';
import { until } from '../../support/dispatch.ts';
import { appFor, TOKEN } from '../../support/http-app.ts';
import { builtFor, installPackage } from '../../support/packed.ts';
import { storeFor } from '../../support/store.ts';

const run = promisify(execFile);
const built = await builtFor({ after });

/** Installations of Node 20 and 22 on the path, if any. */
async function olderNodes(): Promise<string[]> {
  const found = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'node'));
  const versions = await Promise.all(
    [...new Set(found)].map(async (path) => {
      const version = await run(path, ['--version']).then(
        ({ stdout }) => stdout.trim(),
        () => '',
      );
      return { path, version };
    }),
  );
  return versions.filter(({ version }) => /^v2[02]\./.test(version)).map(({ path }) => path);
}

test('echelon-verify, installed alone, verifies a file from its program and as its README says', async () => {
  await using installed = await installPackage(built, 'echelon-verify');
  await cp('test/golden/hgpo.json', join(installed.directory, 'dump.json'));
  const program = join(installed.directory, 'node_modules/echelon-verify/dist/cli/main.js');
  const { stdout } = await run(process.execPath, [program, 'dump.json'], { cwd: installed.directory });
  assert.match(stdout, /45 of 45 batches ok; 4,982 rows: .* 0 wrong, 0 unverifiable/);
  const example = await installed.runExample({});
  const lines = example.stdout.trim().split('\n');
  assert.equal(lines.length, 45);
  for (const line of lines) assert.match(line, / ok \d+ 0$/);
  const wrong = await run(process.execPath, [program, 'absent.json'], { cwd: installed.directory }).catch(
    (error: { code: number; stderr: string }) => error,
  );
  assert.deepEqual(['code' in wrong && wrong.code, /no such file/.test(wrong.stderr)], [2, true]);
});

test('echelon-verify works without what Node 20 lacks, and on each older Node that is installed', async () => {
  await using installed = await installPackage(built, 'echelon-verify');
  const place = installed.directory;
  const missing = join(place, 'node-20.mjs');
  await writeFile(
    missing,
    `import { registerHooks } from 'node:module';
    delete Promise.withResolvers;
    const lacking = {
      'node:zlib': ['zstdDecompressSync'],
      'node:fs': ['globSync'],
    };
    registerHooks({
      load(url, context, next) {
        if (lacking[url] === undefined) return next(url, context);
        const names = Object.keys(process.getBuiltinModule(url)).filter((name) => !lacking[url].includes(name));
        const source = 'const all = process.getBuiltinModule(' + JSON.stringify(url) + ');' +
          names.map((name) => 'export const ' + name + ' = all.' + name + ';').join('') + 'export default all;';
        return { format: 'module', source, shortCircuit: true };
      },
    });`,
  );
  const program = join(place, 'verify.mjs');
  await writeFile(
    program,
    `import { createVerifierPool, encodeBatch, readBatchFile } from 'echelon-verify';
    import { readFileSync } from 'node:fs';
    const [batch] = readBatchFile(readFileSync(${JSON.stringify(resolve('test/golden/hgpo.json'))}), 'hgpo.json');
    const pool = createVerifierPool({ processes: 1, budgetMs: 60_000, budgetBytes: 2 ** 28 });
    const wire = [0, 1, 2].map(() => encodeBatch(batch));
    console.log((await Promise.all(wire.map((bytes) => pool.verify(bytes)))).map((report) => report.ok).join());
    await pool.close();`,
  );
  const { stdout } = await run(process.execPath, ['--import', missing, program], { cwd: place });
  assert.equal(stdout.trim(), 'true,true,true');
  for (const older of await olderNodes()) {
    const answer = await run(older, [program], { cwd: place });
    assert.equal(answer.stdout.trim(), 'true,true,true', older);
  }
});

for (const name of ['echelon-verify', 'ray-client-ts', 'echelon-client'])
  test(`${name} can be published with a provenance, and installs without a script of its own`, async () => {
    await using installed = await installPackage(built, name);
    const { manifest } = installed;
    assert.deepEqual(manifest.publishConfig, { access: 'public', provenance: true });
    assert.equal(manifest.scripts, undefined);
    assert.equal(manifest.devDependencies, undefined);
    const files = await installed.publishedFiles();
    for (const file of ['README.md', 'LICENSE', 'package.json', 'dist/index.js', 'dist/index.d.ts'])
      assert.ok(files.includes(file), file);
    assert.deepEqual(
      files.filter((file) => /\.map$|(?<!\.d)\.ts$|test|node_modules/.test(file)),
      [],
    );
  });

test('a program that imports one constant of echelon-verify is bundled without the verifier', async () => {
  await using installed = await installPackage(built, 'echelon-verify');
  const program = join(installed.directory, 'constant.js');
  await writeFile(program, "import { DISPLAY_FLOOR } from 'echelon-verify';\nconsole.log(DISPLAY_FLOOR);\n");
  await bundle({ entries: { constant: program }, to: join(installed.directory, 'bundle') });
  const bundled = await readFile(join(installed.directory, 'bundle/constant.mjs'), 'utf8');
  assert.ok(bundled.length < 300, `${bundled.length} characters`);
});

test('a page without a bundler verifies a file with the published echelon-verify/browser', {
  skip: NO_BROWSER,
}, async () => {
  await using installed = await installPackage(built, 'echelon-verify');
  await using resources = new AsyncDisposableStack();
  const TYPES: Record<string, string> = { js: 'text/javascript', html: 'text/html' };
  const server = createServer(async ({ url = '/' }, response) => {
    const file = url === '/' ? undefined : join(installed.directory, url);
    const body =
      file === undefined ? '<!doctype html><title>page</title>' : await readFile(file).catch(() => '');
    response.setHeader('content-type', TYPES[file?.split('.').at(-1) ?? 'html'] ?? 'application/json');
    response.setHeader(
      'content-security-policy',
      "default-src 'none'; script-src 'self'; connect-src 'self'",
    );
    response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  resources.defer(() => void server.close());
  await cp('test/golden/hgpo.json', join(installed.directory, 'dump.json'));
  const { page, problems } = await openPage(await openBrowser(resources));
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const found = await page.evaluate(`(async () => {
    const { createVerifier } = await import('/node_modules/echelon-verify/dist/browser/index.js');
    const verifier = createVerifier();
    const file = new File([await (await fetch('/dump.json')).blob()], 'dump.json');
    const { reports } = await verifier.ask({ kind: 'read', files: [{ path: 'dump.json', file }] });
    const explanation = await verifier.ask({ kind: 'explain', at: 0, row: 0 });
    verifier.close();
    return { batches: reports.length, ok: reports.every(({ ok }) => ok), row: explanation.row };
  })()`);
  assert.deepEqual(found, { batches: 45, ok: true, row: 0 });
  assert.deepEqual(problems, []);
});

test('echelon-client, installed alone, submits and follows an experiment as its README says', async () => {
  const { store } = await storeFor({ after });
  const { app } = await appFor({ after }, { store });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as { port: number }).port}`;
  await using installed = await installPackage(built, 'echelon-client');
  assert.deepEqual(Object.keys(installed.manifest.dependencies), ['eventsource-parser']);
  const example = installed.runExample({ ECHELON_URL: url, ECHELON_TOKEN: TOKEN });
  const [id] = await until(async () => {
    const ids = await store.queue.ids(1);
    return ids.length > 0 && ids;
  }, 'the example submits its experiment');
  await connect({ url, token: TOKEN }).post('/v1/experiments/{id}/cancel', { path: { id: id! } });
  assert.deepEqual((await example).stdout.trim().split('\n'), ['state', 'state']);
});
