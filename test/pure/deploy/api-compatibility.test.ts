import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiSurface, breaks, type Document, RELEASED_API, type Surface } from '../../support/api-surface.ts';

const document = JSON.parse(readFileSync('src/http/gen/openapi.json', 'utf8')) as Document;
const released = JSON.parse(readFileSync(RELEASED_API, 'utf8')) as Surface;

test('the API still offers all that was released, and asks for nothing more', () => {
  assert.ok(released.offers.length > 500);
  assert.deepEqual(breaks(released, apiSurface(document)), []);
});

test('a field, a value, an operation that goes is noticed; so is a new need; additions pass', () => {
  const changed = (change: (copy: Document) => void): string[] => {
    const copy = structuredClone(document);
    change(copy);
    return breaks(apiSurface(document), apiSurface(copy));
  };
  const submit = (copy: Document) => copy.paths['/v1/experiments']!.post!;
  assert.deepEqual(
    changed((copy) => {
      delete copy.components.schemas.Experiment!.properties!.fingerprint;
    }),
    ['gone: Experiment.fingerprint is null', 'gone: Experiment.fingerprint is string'],
  );
  assert.deepEqual(
    changed((copy) => void copy.components.schemas.Experiment!.properties!.state!.enum!.pop()),
    ['gone: Experiment.state may be "cancelled"'],
  );
  assert.ok(changed((copy) => void delete copy.paths['/v1/experiments/{id}/logs']).length > 3);
  assert.deepEqual(
    changed((copy) => void submit(copy).parameters!.push({ in: 'header', name: 'x', required: true })),
    ['needed from now on: POST /v1/experiments header x'],
  );
  assert.deepEqual(
    changed((copy) => void copy.components.schemas.ReplaySpec!.required!.push('replay')),
    ['needed from now on: ReplaySpec .replay'],
  );
  assert.deepEqual(
    changed((copy) => {
      copy.components.schemas.Experiment!.properties!.more = { type: 'string' };
      copy.paths['/v1/more'] = { post: { ...submit(copy), requestBody: { required: true, content: {} } } };
    }),
    [],
  );
});
