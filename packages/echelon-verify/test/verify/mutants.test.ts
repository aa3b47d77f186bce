import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { allGoldenBatches } from '../support/golden-batches.ts';
import { MUTANTS, tryMutant } from '../support/mutants/all.ts';
import { detectionPowerPage, mutantsPage } from '../support/mutants/tables.ts';
import { reportBy } from '../support/mutants/tools.ts';

describe('planted bugs', () => {
  for (const mutant of MUTANTS) {
    test(`${mutant.id} is caught`, () => {
      const { caught, report } = tryMutant(mutant);
      assert.ok(caught, JSON.stringify(report.findings));
      assert.equal(report.ok, false);
    });
  }

  test('there are at least thirty, each with its own name', () => {
    assert.ok(new Set(MUTANTS.map((mutant) => mutant.id)).size >= 30);
  });

  test('no clean batch raises an error, whether recorded or computed anew in float64', () => {
    for (const batch of allGoldenBatches()) {
      for (const clean of [batch, reportBy(batch)]) {
        const report = verifyBatch(clean);
        assert.deepEqual(
          report.findings.filter((f) => f.severity === 'error'),
          [],
          batch.name,
        );
        assert.ok(report.ok, batch.name);
      }
    }
  });

  for (const [name, page] of [
    ['mutants', mutantsPage],
    ['detection-power', detectionPowerPage],
  ] as const) {
    test(`docs/evidence/${name}.md is current`, () => {
      const written = readFileSync(new URL(`../../../../docs/evidence/${name}.md`, import.meta.url), 'utf8');
      assert.equal(written, page(), 'run: npm run bench -- mutants --write');
    });
  }
});
