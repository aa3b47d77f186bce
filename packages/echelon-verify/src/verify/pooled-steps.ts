/** The statistics of the steps of one dump together: what none of them has the tokens to show. */

import { groupedBy } from '../base/grouped-by.ts';
import type { Finding } from '../report/report.ts';
import { pooledFindings } from '../step/engines/findings.ts';
import { addEngineSums } from '../step/engines/sums.ts';
import type { StepFileReport } from '../step/model/step-report.ts';

/** Findings of the steps of a dump that no single step has. Plain JSON. */
export interface PooledSteps {
  /** The files; their numbers are `*`. */
  readonly of: string;
  readonly steps: number;
  readonly findings: readonly Finding[];
}

/** Steps of one dump have names of files that differ in numbers alone, and one trainer's precision. */
export function pooledSteps(reports: readonly StepFileReport[]): PooledSteps[] {
  const dumps = groupedBy(
    reports.filter(({ engines }) => engines !== undefined),
    ({ file, precision }) => `${file.replace(/\d+/g, '*')}\n${precision}`,
  );
  return [...dumps].flatMap(([key, own]): PooledSteps[] => {
    if (own.length < 2) return [];
    const known = new Set(own.flatMap(({ findings }) => findings.map(({ code }) => code)));
    const sums = own.map(({ engines }) => engines!).reduce(addEngineSums);
    const together = { steps: own.length, precision: own[0]!.precision };
    const findings = pooledFindings(sums, together).filter(({ code }) => !known.has(code));
    return findings.length === 0 ? [] : [{ of: key.split('\n')[0]!, steps: own.length, findings }];
  });
}
