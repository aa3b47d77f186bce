import { counted } from 'command-kit/plural';
import type { GoalGraph as Graph } from 'echelon-verify/explain';
import { layoutOf } from '../models/goal-graph.ts';
import { inert } from '../models/words.ts';

/** The states of a group by their distance to the goal, with the row's own step marked. */
export function GoalGraph({ graph }: { graph: Graph }) {
  const { nodes, edges, own, states } = graph;
  const { places, width, height, radius } = layoutOf(graph);
  const step = edges[own];
  const nameOf = (at: number) => inert(nodes[at]!.label);
  return (
    <section aria-label="Graph of the group">
      <h3>Graph of the group</h3>
      <svg
        class="goal-graph"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${counted(states, 'state')} of the group by distance to the goal, the goal at the left${
          step ? `; the row leads from ${nameOf(step.from)} to ${nameOf(step.to)}` : ''
        }`}
      >
        {edges.map(({ from, to, steps }, at) => (
          <line
            key={`${from} ${to}`}
            class={at === own ? 'own' : ''}
            x1={places[from]!.x}
            y1={places[from]!.y}
            x2={places[to]!.x}
            y2={places[to]!.y}
            stroke-width={Math.min(4, Math.sqrt(steps))}
          />
        ))}
        {nodes.map(({ label, distance, reached }, at) => (
          <circle
            key={label}
            class={`${at === 0 ? 'goal' : reached ? '' : 'lost'} ${step && (at === step.from || at === step.to) ? 'own' : ''}`}
            cx={places[at]!.x}
            cy={places[at]!.y}
            r={radius}
          >
            <title>{`${inert(label)}: ${reached ? `${distance} from the goal` : 'no way to the goal'}`}</title>
          </circle>
        ))}
      </svg>
      <p class="muted small">
        Columns are distances to the goal, which is at the left; hollow states have no way to it. The thick
        line is this row.
        {nodes.length < states && ` The nearest ${nodes.length} of ${states} states are drawn.`}
      </p>
    </section>
  );
}
