import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { blockList, checkedLookup, mayReach } from '../../../../src/dispatch/notifications/addresses.ts';

const NONE = blockList([]);

test('only public addresses may be reached', () => {
  for (const address of ['1.1.1.1', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700::1111'])
    assert.ok(mayReach(address, NONE), address);
  const special = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:1.1.1.1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    'fc00::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'example.com',
    '',
  ];
  for (const address of special) assert.ok(!mayReach(address, NONE), address);
});

test('an operator can allow networks and single addresses', () => {
  const allowed = blockList(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
  for (const address of ['10.1.2.3', '127.0.0.1', 'fd12::1', '::ffff:10.1.0.1'])
    assert.ok(mayReach(address, allowed), address);
  for (const address of ['10.2.0.1', '127.0.0.2', 'fc00::1']) assert.ok(!mayReach(address, allowed), address);
});

test('a name is refused if one of its addresses is not public, and otherwise gives the checked addresses', async () => {
  const lookup = (addresses: string[]) =>
    promisify(
      checkedLookup(NONE, async () => addresses) as (
        host: string,
        options: object,
        done: (error: Error | null, found: unknown) => void,
      ) => void,
    )('a.example', { all: true });
  assert.deepEqual(await lookup(['1.1.1.1', '2606:4700::1111']), [
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]);
  await assert.rejects(
    lookup(['1.1.1.1', '10.0.0.1']),
    /the address 10\.0\.0\.1 of a\.example is not public/,
  );
});
