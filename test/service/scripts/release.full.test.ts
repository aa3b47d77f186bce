import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { appendFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { codeOf } from '../../support/packed.ts';

const run = promisify(execFile);

/** A key that is thrown away, and the signers' file that names it. */
async function keyIn(folder: string, name: string) {
  const [key, signers] = [join(folder, name), join(folder, `${name}-signers`)];
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'throw-away', '-f', key]);
  const [kind, text] = (await readFile(`${key}.pub`, 'utf8')).split(' ');
  await writeFile(signers, `release namespaces="echelon-release" ${kind} ${text}\n`);
  return { key, signers };
}

/** The commands of SECURITY.md in a folder with downloaded files: what they say, or undefined if one fails. */
async function verified(folder: string, signers: string): Promise<string | undefined> {
  await cp(signers, join(folder, 'release-signers'));
  const [commands] = codeOf(await readFile('SECURITY.md', 'utf8'), 'sh');
  return await run('sh', ['-ec', commands!], { cwd: folder }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}

/** Installs the verifier from the release's own index, and from its tarball, in empty folders, and verifies a run there. */
async function installed(to: string, place: string): Promise<void> {
  const home = join(place, 'reader');
  await cp('test/golden/dumps/trl/group', join(home, 'outputs'), { recursive: true });
  const [tarball] = (await readdir(to)).filter((name) => /^echelon-verify-.*\.tgz$/.test(name));
  const commands = `python3 -m venv env
env/bin/pip install --quiet --extra-index-url file://${to}/simple echelon-verify echelon-capture
(cd outputs && ../env/bin/echelon-verify)
env/bin/echelon-capture --version
npx --yes --cache cache --package ${join(to, tarball!)} echelon-verify outputs`;
  const { stdout } = await run('bash', ['-ec', commands], { cwd: home });
  assert.equal(stdout.match(/3 of 3 batches ok/g)?.length, 2, stdout);
}

test('a release has the source, the packages and signed checksums, and any tampering is found', async () => {
  const place = await mkdtemp(join(tmpdir(), 'echelon-release-'));
  try {
    const { key, signers } = await keyIn(place, 'key');
    const to = join(place, 'release');
    const args = ['scripts/release.ts', '--draft', '--to', to, '--key', key, '--signers', signers];
    await run(process.execPath, args);
    const names = (await readdir(to)).sort();
    assert.deepEqual(
      names.map((name) => name.replace(/-\d+\.\d+\.\d+/, '-V')),
      [
        'NOTES.md',
        'SHA256SUMS',
        'SHA256SUMS.sig',
        'echelon-V.tar.gz',
        'echelon-chart-V.tgz',
        'echelon-client-V.tgz',
        'echelon-verify-V.tgz',
        'echelon_capture-V-py3-none-any.whl',
        'echelon_verify-V-py3-none-any.whl',
        'ray-client-ts-V.tgz',
        'simple',
      ],
    );
    await installed(to, place);
    const source = join(to, names.find((name) => name.endsWith('.tar.gz'))!);
    const listed = execFileSync('tar', ['-tzf', source], { encoding: 'utf8', maxBuffer: 2 ** 26 });
    for (const file of ['package.json', 'docs/gen/openapi.json', 'docs/gen/cli.md'])
      assert.match(listed, new RegExp(`^echelon-\\d+\\.\\d+\\.\\d+/${file}$`, 'm'));
    assert.match(
      (await verified(to, signers)) ?? '',
      /^Good "echelon-release" signature for release .*(\n.*: OK){8}\n$/,
    );

    const files = names.filter((name) => !name.startsWith('SHA256SUMS') && name !== 'simple');
    const tampered: [string, (folder: string) => Promise<void>][] = [
      ...files.map((name): [string, (folder: string) => Promise<void>] => [
        `a byte after ${name}`,
        (folder) => appendFile(join(folder, name), 'x'),
      ]),
      [
        'another digest',
        async (folder) => replace(join(folder, 'SHA256SUMS'), /^[0-9a-f]{64}/, '0'.repeat(64)),
      ],
      ['a digest less', async (folder) => replace(join(folder, 'SHA256SUMS'), /^.*\n/, '')],
      ['another signature', async (folder) => replace(join(folder, 'SHA256SUMS.sig'), /[a-m](?=\w{9})/, 'z')],
      ['no signature', (folder) => rm(join(folder, 'SHA256SUMS.sig'))],
    ];
    for (const [what, tamper] of tampered) {
      const folder = join(place, 'tampered');
      await cp(to, folder, { recursive: true });
      await tamper(folder);
      assert.equal(await verified(folder, signers), undefined, what);
      await rm(folder, { recursive: true });
    }
    // Signed again by another key, or by this key for another purpose.
    const other = await keyIn(place, 'other');
    const sums = join(to, 'SHA256SUMS');
    for (const [signer, namespace] of [
      [other.key, 'echelon-release'],
      [key, 'git'],
    ] as const) {
      await rm(`${sums}.sig`);
      await run('ssh-keygen', ['-Y', 'sign', '-q', '-f', signer, '-n', namespace, sums]);
      assert.equal(await verified(to, signers), undefined, `signed by ${signer} for ${namespace}`);
    }
  } finally {
    await rm(place, { recursive: true });
  }
});

async function replace(path: string, pattern: RegExp, by: string): Promise<void> {
  const before = await readFile(path, 'utf8');
  const after = before.replace(pattern, by);
  assert.notEqual(after, before);
  await writeFile(path, after);
}
