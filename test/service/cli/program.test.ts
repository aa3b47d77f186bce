import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { wrapped } from 'command-kit/width';
import type { Command, Option } from 'commander';
import { createProgram } from '../../../src/cli/program.ts';
import { apiFor, keptOutput } from '../../support/cli.ts';
import { LOCAL } from '../../support/http-app.ts';

const MAIN = join(import.meta.dirname, '../../../src/cli/main.ts');

/** Commands that talk to no API: to files, to this machine, or to Ray itself. */
const WITHOUT_API = new Set(
  [
    ['demo', 'up', 'down', 'status', 'doctor', 'box init', 'api', 'dispatcher'],
    ['login'],
    ['backup create', 'backup ls', 'backup verify', 'backup prune', 'backup restore'],
    ['explain', 'estimate', 'compare', 'identify', 'help', 'completion'],
    ['presets ls'],
    ['comparison seeds', 'comparison judge'],
  ].flat(),
);

/** Options that mean the same and are yet written differently, with the reason. */
const WRITTEN_OTHERWISE: Record<string, string> = {
  'dispatcher --cluster': 'names a cluster too, and says where its ray-worker is',
  'verify --from': 'the format of the files, not the first step',
  'explain --from': 'as of verify',
  'identify --from': 'as of verify',
  'usage --from': 'a day, not a step',
  'usage --to': 'as of --from',
};

interface Place {
  path: string;
  command: Command;
}

function placesOf(command: Command, parents: string[] = []): Place[] {
  return command.commands.flatMap((sub) => {
    const path = [...parents, sub.name()];
    return [{ path: path.join(' '), command: sub }, ...placesOf(sub, path)];
  });
}

/** All commands with something to do of their own. */
const isLeaf = ({ command }: Place): boolean =>
  (command as unknown as { _actionHandler: unknown })._actionHandler !== null;

const program = await createProgram(keptOutput());
const places = placesOf(program);
const leaves = places.filter(isLeaf);

/** What `--help` prints, in a terminal so wide. */
function helpOf(command: Command, width: number): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (part) => void parts.push(part), getOutHelpWidth: () => width });
  command.outputHelp();
  return wrapped(parts.join(''), width);
}

const optionsOf = ({ path, command }: Place): { path: string; option: Option }[] =>
  command.options.map((option) => ({ path, option }));

test('the program has the commands of the guides', () => {
  const paths = new Set(leaves.map(({ path }) => path));
  for (const one of ['submit', 'ls', 'watch', 'clusters ls', 'clusters add', 'sweeps compare'])
    assert.ok(paths.has(one), one);
  assert.ok(leaves.length > 50);
});

test('the list of commands has one line per command in a terminal of 80 columns, 100 within a group', () => {
  for (const { path, command } of [{ path: '', command: program }, ...places]) {
    assert.notEqual(command.description(), '', path);
    const lines = helpOf(command, path === '' ? 80 : 100).split('\n');
    const names = new Set(command.commands.map((sub) => sub.name()));
    for (const name of names) {
      const at = lines.findIndex((line) => line.startsWith(`  ${name} `) || line.startsWith(`  ${name}, `));
      assert.notEqual(at, -1, `${path} ${name} is not listed`);
      assert.doesNotMatch(
        lines[at + 1] ?? '',
        /^ {10}/,
        `${path} ${name} takes more than a line: ${lines[at]}`,
      );
    }
  }
});

test('every command of the program stands under a heading', () => {
  assert.doesNotMatch(helpOf(program, 100), /^Commands:$/m);
});

test('no line of a help text is wider than a terminal of 80 columns', () => {
  for (const { path, command } of [{ path: '', command: program }, ...places]) {
    for (const line of helpOf(command, 80).split('\n'))
      assert.ok(line.length <= 80 || !/ \S* /.test(line.trim()), `${path}: ${line.length} columns: ${line}`);
  }
});

test('every command has an example of itself', () => {
  const without = leaves.filter(
    ({ path, command }) => !new RegExp(`\\n {2}echelon ${path}( |\\n|$)`).test(helpOf(command, 100)),
  );
  assert.deepEqual(
    without.map(({ path }) => path),
    [],
  );
});

test('the options in the examples exist', () => {
  for (const { path, command } of [{ path: '', command: program }, ...places]) {
    for (const [, rest] of helpOf(command, 100).matchAll(/^ {2}echelon (.+)$/gm)) {
      const words = rest!.split(/\s{2,}|[|>]/)[0]!.split(' ');
      let at = program;
      while (words.length > 0) {
        const next = at.commands.find((sub) => sub.name() === words[0]);
        if (!next) break;
        at = next;
        words.shift();
      }
      assert.notEqual(at, program, `${path}: echelon ${rest}`);
      const known = new Set(
        [at, at.parent!].flatMap((one) => one.options.flatMap(({ short, long }) => [short, long])),
      );
      for (const word of words.filter((one) => /^--?[a-z]/.test(one)))
        assert.ok(known.has(word), `${path}: ${word} in: echelon ${rest}`);
    }
  }
});

test('every command on the API has the global options and --json', () => {
  const wanted = ['--url', '--token', '--state-dir', '--json'];
  for (const { path, command } of leaves) {
    const flags = command.options.map(({ long }) => long);
    if (path === 'mcp') continue; // Its output is a protocol.
    if (WITHOUT_API.has(path)) assert.ok(path === 'login' || !flags.includes('--url'), path);
    else for (const flag of wanted) assert.ok(flags.includes(flag), `${path} lacks ${flag}`);
  }
  for (const path of WITHOUT_API)
    assert.ok(
      leaves.some((leaf) => leaf.path === path),
      `${path} is gone`,
    );
});

test('an option has the same flags in all commands', () => {
  const [byLong, byShort] = [new Map<string, string>(), new Map<string, string>()];
  for (const { path, option } of places.flatMap(optionsOf)) {
    if (`${path} ${option.long}` in WRITTEN_OTHERWISE) continue;
    assert.equal(byLong.get(option.long!) ?? option.flags, option.flags, `${path} ${option.flags}`);
    byLong.set(option.long!, option.flags);
    if (option.short === undefined) continue;
    assert.equal(byShort.get(option.short) ?? option.long, option.long, `${path} ${option.short}`);
    byShort.set(option.short, option.long!);
  }
});

/** Runs the real program; what it printed, and its exit status. */
async function echelon(argv: string[], home: string): Promise<{ status: number; out: string; err: string }> {
  const child = spawn(process.execPath, [MAIN, ...argv], { env: { HOME: home, PATH: process.env.PATH } });
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { status, out, err };
}

test('an unknown command is refused with the nearest command', async () => {
  const failure = async (argv: string[]): Promise<string> =>
    (await createProgram(keptOutput(), { isSilent: true })).parseAsync(argv, { from: 'user' }).then(
      () => 'none',
      (error: Error) => error.message,
    );
  const said: [argv: string[], RegExp][] = [
    [['sumbit'], /unknown command 'sumbit'\n\(Did you mean submit\?\)/],
    [['sweep', 'submti', 'x.yaml'], /unknown command 'submti' of sweeps\n\(Did you mean submit\?\)/],
    [['clusters', 'drian', 'x'], /unknown command 'drian' of clusters\n\(Did you mean drain\?\)/],
    [['keys', 'remove'], /unknown command 'remove' of keys/],
    [['queue', 'nope'], /unknown command 'nope' of queues\n\(The commands are ls, pause, close, resume\.\)/],
  ];
  for (const [argv, words] of said) assert.match(await failure(argv), words);
  // The default command of a group still takes its options.
  const nowhere = ['--state-dir', '/nowhere'];
  for (const argv of [['clusters'], ['sweep', '--limit', '3'], ['clock']])
    assert.match(await failure([...argv, ...nowhere]), /^No API is configured/);
});

test('with --json, every error is one JSON document on standard error', async (t) => {
  const { connection } = await apiFor(t);
  const home = await mkdtemp(join(tmpdir(), 'echelon-home-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const spec = join(home, 'spec.yaml');
  await writeFile(spec, 'name: x\nengine: nothing\n');
  const failing: [argv: string[], status: number, code: string, message: RegExp][] = [
    [['get', 'exp-00cz8h3k7n2q4r5s6t7v', ...connection], 4, 'not-found', /There is no experiment/],
    [['submit', spec, ...connection], 4, 'invalid-spec', /engine/],
    [['ls', '--limt', '3'], 2, 'usage', /^unknown option '--limt'/],
    [['keys', 'remove'], 2, 'usage', /unknown command 'remove' of keys/],
    [['ls', '--state-dir', home], 3, 'unreachable', /No API is configured/],
    [['verify', join(home, 'none.json')], 2, 'usage', /there is no such file/],
  ];
  for (const [argv, wanted, code, message] of failing) {
    const { status, out, err } = await echelon([...argv, '--json'], home);
    assert.equal(status, wanted, err);
    const { error } = JSON.parse(err) as { error: { code: string; message: string; problems: unknown[] } };
    assert.equal(error.code, code, err);
    assert.match(error.message, message);
    assert.equal(error.problems.length > 0, code === 'invalid-spec', err);
    if (argv[0] !== 'verify') assert.equal(out, '');
  }
});

test('the exit status tells the kind of result', async (t) => {
  const { client, connection } = await apiFor(t);
  const home = await mkdtemp(join(tmpdir(), 'echelon-home-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const { id } = await client.post('/v1/experiments', { body: LOCAL });
  await client.post('/v1/experiments/{id}/cancel', { path: { id } });

  await t.test('0: success, with the answer on standard output', async () => {
    const { status, out, err } = await echelon(['ls', ...connection, '--json'], home);
    assert.deepEqual([status, err], [0, '']);
    assert.deepEqual(
      (JSON.parse(out) as { items: { id: string }[] }).items.map((one) => one.id),
      [id],
    );
  });
  await t.test('1: an experiment did not succeed', async () => {
    const { status, err } = await echelon(['watch', id, ...connection], home);
    assert.equal(status, 1, err);
    assert.match(err, new RegExp(`^echelon: ${id} cancelled: `, 'm'));
  });
  await t.test('2: wrong usage, with the nearest option', async () => {
    const { status, out, err } = await echelon(['ls', ...connection, '--limt', '3'], home);
    assert.deepEqual([status, out], [2, '']);
    assert.match(err, /unknown option '--limt'\n\(Did you mean --limit\?\)/);
  });
  await t.test('2: an unreadable file', async () => {
    const file = join(home, 'spec.yaml');
    await writeFile(file, 'name: [');
    const { status, err } = await echelon(['submit', file, ...connection], home);
    assert.equal(status, 2, err);
    assert.match(err, /spec\.yaml/);
  });
  await t.test('3: the API does not answer', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    const { status, err } = await echelon(['ls', '--url', `http://127.0.0.1:${port}`, '--token', 'x'], home);
    assert.equal(status, 3, err);
    assert.match(err, /^echelon: No answer from http:/);
  });
  await t.test('4: the API refuses', async () => {
    const { status, err } = await echelon(['get', 'exp-00cz8h3k7n2q4r5s6t7v', ...connection], home);
    assert.equal(status, 4, err);
    assert.match(err, /^echelon: .*exp-00cz8h3k7n2q4r5s6t7v/);
  });
  await t.test('4: a refusal cannot send control characters to the terminal', async () => {
    const words = JSON.stringify({ detail: '\u001b[2Jall is well\u202e', code: 'forbidden' });
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () =>
        socket.end(
          `HTTP/1.1 403 Forbidden\r\ncontent-length: ${Buffer.byteLength(words)}\r\nconnection: close\r\n\r\n${words}`,
        ),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { status, err } = await echelon(['ls', '--url', `http://127.0.0.1:${port}`, '--token', 'x'], home);
    server.close();
    assert.equal(status, 4, err);
    assert.equal(err.split('\n', 1)[0], 'echelon: \\u001b[2Jall is well\\u202e');
  });
});

test('every argument of every command is described', () => {
  const without = places.flatMap(({ path, command }) =>
    command.registeredArguments
      .filter(({ description }) => description === '')
      .map((one) => `${path} ${one.name()}`),
  );
  assert.deepEqual(without, []);
});
