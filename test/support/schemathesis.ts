import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appFor, TOKEN } from './http-app.ts';
import { running, type Scope, storeFor } from './store.ts';

/** What a run of the fuzzer came to. */
export interface FuzzResult {
  /** Requests that were made up and sent. */
  cases: number;
  /** Its report for people, with a command line for each failure. */
  report: string;
  ok: boolean;
}

/** Event streams do not end; sign-ins are counted, and too many of them refused. */
const EXCLUDED = '/events$|^/login|^/logout';

/**
 * Runs schemathesis over every operation of the document against an app with a real store: answers must conform to the
 * document, be no fault of ours, and refuse what the document does not allow. `examples`: for each operation.
 */
export async function fuzzApi(
  scope: Scope,
  { examples, seed, phases }: { examples: number; seed: number; phases: string },
): Promise<FuzzResult> {
  const { store } = await storeFor(scope);
  // It makes long queries, which are refused as headers before anybody looks at them.
  const limits = { failedSignIns: 1_000_000, requests: 1_000_000, headerBytes: 2 ** 20 };
  const { app } = await appFor(scope, { store, limits });
  await running(store);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const directory = await mkdtemp(join(tmpdir(), 'echelon-fuzz-'));
  scope.after(() => rm(directory, { recursive: true, force: true }));
  const document = join(directory, 'openapi.json');
  await writeFile(document, JSON.stringify(app.swagger()));
  // A condition may fail before anybody looks at the body.
  const refusals = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 428, 429].map(
    (status) => `"${status}"`,
  );
  const config = join(directory, 'schemathesis.toml');
  await writeFile(config, `[checks.negative_data_rejection]\nexpected-statuses = [${refusals.join(', ')}]\n`);
  const { port } = app.server.address() as { port: number };
  const child = spawn(
    join(import.meta.dirname, '../../.venv/bin/schemathesis'),
    [
      '--config-file',
      config,
      'run',
      document,
      '--url',
      `http://127.0.0.1:${port}`,
      '--header',
      `Authorization: Bearer ${TOKEN}`,
      '--exclude-path-regex',
      EXCLUDED,
      '--continue-on-failure',
      '--no-color',
      '--phases',
      phases,
      '--max-examples',
      String(examples),
      '--seed',
      String(seed),
      // What a field may hold depends on others, which no schema says: a refused request is no failure.
      '--exclude-checks',
      'positive_data_acceptance',
      '--warnings',
      'off',
    ],
    { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let report = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    report += text;
  });
  const [code] = await once(child, 'close');
  const cases = Number(/([\d,]+) generated/.exec(report)?.[1]?.replaceAll(',', ''));
  assert.ok(cases > 0, report);
  return { cases, report, ok: code === 0 };
}
