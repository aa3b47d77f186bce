import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { SCREENS } from 'echelon-dashboard/screen-paths';
import { appFor, type TestApp } from '../../../support/http-app.ts';

const GEN = new URL('../../../../packages/echelon-dashboard/src/gen/', import.meta.url);
const MAX_FIRST_SCRIPT = 80 * 1024;
const MAX_STYLES = 15 * 1024;

let api: TestApp;
const closing: (() => unknown)[] = [];
before(async () => {
  api = await appFor({ after: (close) => void closing.push(close) });
});
after(async () => {
  for (const close of closing) await close();
});

test('every path of a screen answers the page with its strict policy', async () => {
  for (const screen of SCREENS) {
    const answer = await api.call('GET', `/${screen}`);
    assert.equal(answer.statusCode, 200, screen);
    assert.match(String(answer.headers['content-type']), /^text\/html/);
    const policy = String(answer.headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe|data:|https?:/);
    assert.equal(answer.headers['cache-control'], 'no-store');
  }
  assert.equal((await api.call('GET', '/experiments/exp-1/batches/1/1')).statusCode, 200);
});

test('the page holds no inline code or style', async () => {
  const { body } = await api.call('GET', '/');
  assert.doesNotMatch(body, /<style|\son\w+=|<script(?![^>]*\ssrc=)[^>]*>|style=/);
});

test('files of the page are immutable, packed if the browser accepts it, and need no credentials', async () => {
  const { body } = await api.call('GET', '/');
  const files = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  assert.ok(files.length >= 2);
  for (const path of files) {
    const plain = await api.call('GET', path, { token: null });
    assert.equal(plain.statusCode, 200);
    assert.match(String(plain.headers['cache-control']), /immutable/);
    const headers = { 'accept-encoding': 'gzip' };
    const packed = await api.call('GET', path, { token: null, headers });
    assert.deepEqual(gunzipSync(packed.rawPayload), plain.rawPayload);
  }
  const unknown = await api.call('GET', '/assets/none.js', { token: null });
  assert.equal(unknown.statusCode, 404);
});

test('the first screen needs at most 80 kB of script and 15 kB of style in gzip', () => {
  const page = readFileSync(new URL('index.html', GEN), 'utf8');
  const size = (name: string) => gzipSync(readFileSync(new URL(`assets/${name}`, GEN))).length;
  const names = readdirSync(new URL('assets/', GEN));
  const entries = [...page.matchAll(/assets\/([^"]+\.js)"/g)].map(([, name]) => name!);
  // What the entry and the list of experiments import, over any number of files.
  const needed = new Set(entries);
  for (const name of names) if (/^experiments-.*\.js$/.test(name)) needed.add(name);
  for (const name of needed) {
    const text = readFileSync(new URL(`assets/${name}`, GEN), 'utf8');
    for (const [, other] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) needed.add(other!);
  }
  const script = [...needed].reduce((sum, name) => sum + size(name), 0);
  assert.ok(needed.size >= 2);
  assert.ok(script <= MAX_FIRST_SCRIPT, `${script} bytes of script: ${[...needed].join(', ')}`);
  const styles = names.filter((name) => name.endsWith('.css')).reduce((sum, name) => sum + size(name), 0);
  assert.ok(styles <= MAX_STYLES, `${styles} bytes of style`);
});
