import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { createVerifierPool, type VerifierPool } from '../../src/pool/pool.ts';
import { folder } from '../support/dump-files.ts';
import { damaged, SEEDS } from '../support/mutated-files.ts';
import { randomFrom } from '../support/random-batch.ts';

/*
 * The long form of dumps/fuzz.test.ts: in processes as the API has them, so that a file that never ends is seen, and ends at its
 * limit of time.
 */

const FILES = Number(process.env.MUTATED_FILES ?? 500);
/** No damaged file of a few kilobytes takes a second; a busy machine gets ten. */
const LIMIT_MS = 10_000;
const PROCESSES = 2;

describe('damaged files of each format, in a process with limits of time and memory', () => {
  const limits = { processes: PROCESSES, budgetMs: LIMIT_MS, budgetBytes: 2 ** 28 };

  async function outcome(pool: VerifierPool, path: string, name: string): Promise<string> {
    const { file, from, stated } = SEEDS[name]!;
    try {
      await pool.verifyFile({ path, name: file, from, ...(stated && { stated }) });
      return 'reported';
    } catch (error) {
      if (
        error instanceof RangeError ||
        (error instanceof BatchFormatError && !/it takes more than/.test(error.message))
      )
        return 'refused';
      return `${(error as Error).message} (${path})`;
    }
  }

  for (const [name, { file, bytes }] of Object.entries(SEEDS))
    test(`${name}: ${FILES} damaged files are refused or reported in time`, {
      timeout: 300_000,
    }, async () => {
      const pool = createVerifierPool(limits);
      const random = randomFrom(name.length);
      const counts = new Map<string, number>();
      let made = 0;
      const oneAfterAnother = async () => {
        await using dir = await folder();
        while (made++ < FILES) {
          const found = await outcome(pool, await dir.write(file, damaged(bytes, random)), name);
          counts.set(found, (counts.get(found) ?? 0) + 1);
        }
      };
      try {
        await Promise.all(Array.from({ length: PROCESSES }, oneAfterAnother));
      } finally {
        await pool.close();
      }
      const { refused = 0, reported = 0, ...faults } = Object.fromEntries(counts);
      assert.deepEqual(faults, {});
      assert.ok(refused > 0 && refused + reported === FILES, JSON.stringify({ refused, reported }));
    });
});
