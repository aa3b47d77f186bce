import type { GoalGraph } from 'echelon-verify/explain';

const [WIDTH, MARGIN, LEAST] = [420, 10, 60];

/** A place for each node: columns by distance to the goal, which is at the left. */
export interface GoalLayout {
  readonly places: readonly { readonly x: number; readonly y: number }[];
  readonly width: number;
  readonly height: number;
  readonly radius: number;
}

/** Lays out the nodes of a graph. The height grows with the fullest column, so that up to 500 nodes stay apart. */
export function layoutOf({ nodes }: Pick<GoalGraph, 'nodes'>): GoalLayout {
  const columns = [...Map.groupBy(nodes.keys(), (at) => nodes[at]!.distance)].sort(([a], [b]) => a - b);
  const fullest = Math.max(1, ...columns.map(([, column]) => column.length));
  const between = fullest > 60 ? 6 : 12;
  const height = Math.max(LEAST, fullest * between + 2 * MARGIN);
  const places = nodes.map(() => ({ x: 0, y: 0 }));
  columns.forEach(([, column], k) => {
    const x = MARGIN + (k / Math.max(1, columns.length - 1)) * (WIDTH - 2 * MARGIN);
    column.forEach((node, i) => {
      // Neighbours of one column are set off, so that steps within it can be seen.
      const off = column.length > 1 ? (i % 2 === 0 ? -4 : 4) : 0;
      places[node] = {
        x: Math.min(WIDTH - MARGIN, Math.max(MARGIN, x + off)),
        y: ((i + 0.5) / column.length) * height,
      };
    });
  });
  return { places, width: WIDTH, height, radius: between === 6 ? 2 : 4 };
}
