import { counted } from 'command-kit/plural';
import type { KeyStrength, SignalDescription } from 'echelon-verify/report';
import { figure, percent } from '../../models/words.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Fact } from '../../parts/marks.tsx';

const share = (x: number | null | undefined) => (x == null ? '–' : percent(x, 1));

/** What a batch offers to learn from. */
export function Signal({ signal, partsDisagree }: { signal: SignalDescription; partsDisagree?: number }) {
  const { keys, shares, contextInconsistency, contextBias, clusterSize, effectiveTrajectories } = signal;
  return (
    <details class="card signal">
      <summary>
        <strong>Signal</strong> <span class="muted">describes the signal, does not predict success</span>
      </summary>
      <DataTable
        rows={keys}
        keyOf={({ key }: KeyStrength) => key}
        columns={[
          { title: 'Rows compared by', cell: ({ key }) => key },
          { title: 'Clusters', class: 'number', cell: ({ clusters }) => clusters },
          { title: 'Explains', class: 'number', cell: ({ explained }) => share(explained) },
          { title: 'Adjusted', class: 'number', cell: ({ adjusted }) => share(adjusted) },
          {
            title: 'By chance',
            class: 'number',
            cell: ({ byChance }) => (byChance === null ? '–' : byChance.map(share).join(' to ')),
          },
        ]}
      />
      <dl class="facts small">
        <Fact name="Contexts that differ">{share(contextInconsistency)}</Fact>
        <Fact name="Context off, in deviations">{contextBias === null ? '–' : figure(contextBias)}</Fact>
        <Fact name="Rows compared with">{figure(clusterSize)}</Fact>
        <Fact name="Effective trajectories">{figure(effectiveTrajectories)}</Fact>
        <Fact name="Advantage 0">{share(shares.advantageZero)}</Fact>
        <Fact name="Alone in their state">{share(shares.alone)}</Fact>
        <Fact name="Groups of equal rewards">{share(shares.groupWithoutSpread)}</Fact>
        <Fact name="Penalties only">{share(shares.penaltyOnly)}</Fact>
        <Fact name="Groups without success">{share(shares.groupWithoutGoal)}</Fact>
        <Fact name="Parts of opposite signs">{share(partsDisagree)}</Fact>
      </dl>
      <p class="muted small">Of {counted(signal.rows, 'row')} in whole groups.</p>
    </details>
  );
}
