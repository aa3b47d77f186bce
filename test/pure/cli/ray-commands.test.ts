import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { CliError, EXIT } from 'command-kit/exit';
import { writePickle } from 'ray-client-ts/pickle/writer';
import { type FakeRayOptions, startFakeRay } from '../../../packages/ray-client-ts/test/support/fake-ray.ts';
import { type RayTarget, rayActors, rayCall, rayKill, rayStatus } from '../../../src/cli/ray-commands.ts';

interface Printed {
  readonly lines: string[];
  readonly remarks: string[];
}

async function on(options: FakeRayOptions, use: (target: RayTarget) => Promise<void>): Promise<Printed> {
  await using ray = await startFakeRay(options);
  const printed: Printed = { lines: [], remarks: [] };
  const output = {
    line: (text = '') => void printed.lines.push(text),
    remark: (text: string) => void printed.remarks.push(text),
  };
  await use({ address: `ray://${ray.address}`, output, environment: { RAY_AUTH_TOKEN: 'from environment' } });
  return printed;
}

const fails = (exitCode: number, message: RegExp) => (error: unknown) =>
  error instanceof CliError && error.exitCode === exitCode && message.test(error.message);

describe('ray status', () => {
  test('ray status prints the answer as JSON', async () => {
    const { lines } = await on({}, (target) => rayStatus({ ...target, json: true }));
    assert.deepEqual(JSON.parse(lines.join('')), {
      rayVersion: '2.60.0',
      pythonVersion: '3.11.7',
      nodes: [],
      resources: {},
      available: {},
    });
  });

  test('ray status prints a table for people, with a warning beside it', async () => {
    const { lines, remarks } = await on({ rayVersion: '2.99.0' }, rayStatus);
    assert.match(lines.join(''), /^Ray 2\.99\.0, Python 3\.11\.7, 0 nodes/);
    assert.match(remarks.join(''), /warning: Ray 2\.99\.0/);
  });

  test('ray status takes the token from the environment, or the given one', async () => {
    await on({ token: 'from environment' }, rayStatus);
    await on({ token: 'given' }, (target) => rayStatus({ ...target, token: 'given' }));
    await on({ token: 'another' }, async (target) => {
      await assert.rejects(rayStatus(target), fails(EXIT.refused, /RAY_AUTH_TOKEN/));
    });
  });
});

test('a silent cluster leads to a message about the wait, and to the last error', async () => {
  const remarks: string[] = [];
  const output = { line() {}, remark: (text: string) => void remarks.push(text) };
  await assert.rejects(
    rayStatus({ address: 'ray://no-such-host.invalid:1', environment: {}, output }),
    fails(EXIT.unreachable, /no Ray answered at no-such-host\.invalid:1 .*\n {2}\S/),
  );
  assert.deepEqual(remarks, ['connecting to ray://no-such-host.invalid:1']);
});

describe('ray call', () => {
  test('a call that waits says that no CPU is free', async () => {
    const { remarks } = await on(
      { run: () => undefined },
      (target) =>
        new Promise((resolve) => {
          const remark = (text: string) => resolve(target.output.remark(text));
          const output = { ...target.output, remark };
          rayCall({ ...target, output, reference: 'm:f' }).catch(() => undefined);
        }),
    );
    assert.match(remarks.join(), /^The call waits for a CPU: 0 of 0 are free\./);
  });

  test('prints what the function returns', async () => {
    const value = { n: 2n ** 70n, b: Buffer.from('b'), s: [1.5, null] };
    const printed = await on({ run: () => writePickle(value) }, (target) =>
      rayCall({ ...target, reference: 'm:f', args: '[1]' }),
    );
    assert.deepEqual(JSON.parse(printed.lines.join('')), {
      n: '1180591620717411303424',
      b: 'Yg==',
      s: [1.5, null],
    });
    const text = await on({ run: () => writePickle('plain') }, (target) =>
      rayCall({ ...target, reference: 'm:f' }),
    );
    assert.deepEqual(text.lines, ['plain']);
  });

  test('wrong usage is said before anyone is asked', async () => {
    const target = { address: 'ray://127.0.0.1:1', environment: {}, output: { line() {}, remark() {} } };
    await assert.rejects(rayCall({ ...target, reference: 'no colon' }), fails(EXIT.usage, /module:name/));
    await assert.rejects(
      rayCall({ ...target, reference: 'm:f', args: '{}' }),
      fails(EXIT.usage, /JSON array/),
    );
    await assert.rejects(rayCall({ ...target, reference: 'm:f', args: '[' }), fails(EXIT.usage, /JSON/));
    await assert.rejects(rayStatus({ ...target, address: 'http://x' }), fails(EXIT.usage, /no Ray address/));
  });
});

test('ray actors lists names', async () => {
  const { lines } = await on({}, (target) => rayActors({ ...target, namespace: 'n' }));
  assert.match(stripVTControlCharacters(lines.join('')), /NAMESPACE +NAME\s*\nn +one/);
});

describe('ray kill', () => {
  test('ray kill ends an actor in the given namespace', async () => {
    const { lines } = await on({}, (target) => rayKill({ ...target, name: 'one', namespace: 'n' }));
    assert.deepEqual(lines, ['killed one']);
  });

  test('an actor that is not there', async () => {
    await on({}, async (target) => {
      await assert.rejects(rayKill({ ...target, name: 'two' }), fails(EXIT.notOk, /no actor "two"/));
    });
  });
});
