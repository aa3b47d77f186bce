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

test('a release has the source, the packages and signed checksums, and any tampering is found', async () => {
  const place = await mkdtemp(join(tmpdir(), 'echelon-release-'));
  try {
    const { key, signers } = await keyIn(place, 'key');
    const wheel = join(place, 'echelon_verify-0.1.0-py3-none-any.whl');
    await writeFile(wheel, 'a wheel');
    const to = join(place, 'release');
    const args = ['scripts/release.ts', '--draft', '--to', to, '--key', key, '--signers', signers, wheel];
    await run(process.execPath, args);
    const names = (await readdir(to)).sort();
    assert.deepEqual(
      names.map((name) => name.replace(/-\d+\.\d+\.\d+/, '-V')),
      [
        'SHA256SUMS',
        'SHA256SUMS.sig',
        'echelon-V.tar.gz',
        'echelon-client-V.tgz',
        'echelon-verify-V.tgz',
        'echelon_verify-V-py3-none-any.whl',
        'ray-client-ts-V.tgz',
      ],
    );
    const source = join(to, names.find((name) => name.endsWith('.tar.gz'))!);
    const listed = execFileSync('tar', ['-tzf', source], { encoding: 'utf8', maxBuffer: 2 ** 26 });
    for (const file of ['package.json', 'docs/gen/openapi.json', 'docs/gen/cli.md'])
      assert.match(listed, new RegExp(`^echelon-\\d+\\.\\d+\\.\\d+/${file}$`, 'm'));
    assert.match(
      (await verified(to, signers)) ?? '',
      /^Good "echelon-release" signature for release .*(\n.*: OK){5}\n$/,
    );

    const files = names.filter((name) => !name.startsWith('SHA256SUMS'));
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
