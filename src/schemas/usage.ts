import { type Static, Type } from 'typebox';
import { CountOf, nullable } from './answer-parts.ts';
import { NamedObject, StrictObject } from './objects.ts';

const Hours = (what: string) =>
  Type.Number({ minimum: 0, description: `Hours of ${what} that were allocated.` });
const Cost = nullable(
  Type.Number({ minimum: 0, description: 'GPU hours at the prices of ECHELON_GPU_PRICES, in its currency.' }),
  { description: 'Null if a GPU type among them has no price.' },
);

/** What experiments took in a period, by project, owner, cluster and GPU type. */
export const Usage = NamedObject('Usage', {
  from: Type.String({ description: 'First day (UTC).' }),
  to: Type.String({ description: 'Last day (UTC).' }),
  gpuHours: Hours('GPUs'),
  cost: Cost,
  items: Type.Array(
    StrictObject({
      project: Type.String(),
      owner: Type.String({ description: 'Name of the key or token that submitted; empty: not recorded.' }),
      cluster: Type.String(),
      gpuType: Type.String({ description: 'As Ray names it; empty: not known, or no GPUs.' }),
      gpuHours: Hours('GPUs'),
      cpuHours: Hours('CPUs'),
      attempts: CountOf('Attempts that ended in the period.'),
      cost: Cost,
    }),
  ),
});
export type Usage = Static<typeof Usage>;
