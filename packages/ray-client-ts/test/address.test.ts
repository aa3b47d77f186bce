import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CLIENT_PORT, namesPort, parseAddress } from '../src/address.ts';

test('addresses in every form', () => {
  assert.equal(parseAddress('ray://head.example:10002'), 'head.example:10002');
  assert.equal(parseAddress('ray://head/'), `head:${DEFAULT_CLIENT_PORT}`);
  assert.equal(parseAddress('10.0.0.1:1'), '10.0.0.1:1');
  assert.equal(parseAddress('head_1'), 'head_1:10001');
  assert.equal(parseAddress('ray://[::1]:10001'), '[::1]:10001');
});

test('what is no address is refused', () => {
  for (const text of [
    '',
    'ray://',
    'http://head:10001',
    'a b',
    'head:0',
    'head:70000',
    'head:x',
    '::1',
    'ray://h/p',
  ]) {
    assert.throws(() => parseAddress(text), TypeError, text);
  }
});

test('whether a port is named, also behind an IPv6 address', () => {
  for (const address of ['ray://h:1', 'h:10001', 'ray://[::1]:7/', '127.0.0.1:5'])
    assert.ok(namesPort(address));
  for (const address of ['ray://h', 'h/', 'ray://[::1]', '[fe80::1:2]']) assert.ok(!namesPort(address));
});
