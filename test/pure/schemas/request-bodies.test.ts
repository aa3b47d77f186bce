import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { STRICT_AJV } from '../../../src/schemas/check.ts';
import { AddCluster, COMMAND_STATES, isCommandOver } from '../../../src/schemas/clusters.ts';

const check = new Ajv(STRICT_AJV).compile(AddCluster);
const LEAST = { name: 'a', address: 'ray://h:10001', sharedRoot: '/shared' };

test('a new cluster with an unknown field or a bad value is refused', () => {
  const all = {
    ...{ token: 't', node: 'n', port: 7400, advertise: 'lb.example:30740', backfill: true },
    tls: { ca: 'x', cert: 'x', key: 'x', serverName: 'h' },
  };
  for (const good of [
    LEAST,
    { ...LEAST, ...all },
    { ...LEAST, sharedRoot: '~/echelon' },
    { ...LEAST, sharedRoot: '~' },
    { ...LEAST, address: 'ray://[::1]' },
  ])
    assert.ok(check(good), JSON.stringify(good));
  for (const bad of [
    {},
    { ...LEAST, name: 'A' },
    { ...LEAST, address: 'h:10001' },
    { ...LEAST, address: 'ray://h:1/x' },
    { ...LEAST, address: 'ray://user@h:1' },
    { ...LEAST, sharedRoot: 'relative' },
    { ...LEAST, sharedRoot: '~other' },
    { ...LEAST, token: '' },
    { ...LEAST, token: 'two words' },
    { ...LEAST, port: 0 },
    { ...LEAST, advertise: 'nohost' },
    { ...LEAST, extra: 1 },
    { ...LEAST, tls: { other: 'x' } },
  ])
    assert.ok(!check(bad), JSON.stringify(bad));
});

test('a command is over if it succeeded or failed', () => {
  assert.deepEqual(
    COMMAND_STATES.filter((state) => isCommandOver({ state })),
    ['succeeded', 'failed'],
  );
});
