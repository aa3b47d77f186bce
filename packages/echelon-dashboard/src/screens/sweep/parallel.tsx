import { useState } from 'preact/hooks';
import { type Coordinate, coordinateOf, type Difference } from '../../models/combinations.ts';
import { figure } from '../../models/words.ts';
import { Scroll } from '../../parts/data-table.tsx';

const HEIGHT = 190;
const WIDTH = 1000;
const MARGIN = { top: 30, bottom: 14, side: 70 };

interface ParallelProps {
  differences: readonly Difference[];
  names: readonly string[];
  metric: string;
  /** The mean of each combination; null: it has none. */
  means: readonly (number | null)[];
  goal: 'max' | 'min';
}

/** Combinations as lines over their values and the metric that they reached: which setting goes with a high value. */
export function Parallel({ differences, names, metric, means, goal }: ParallelProps) {
  const [hover, setHover] = useState<number>();
  const result = coordinateOf({ short: metric, values: means.map((mean) => mean ?? undefined) });
  const [low, high] = [Math.min(...numbers(means)), Math.max(...numbers(means))];
  const share = (at: number) =>
    means[at] === null || high === low ? 0.5 : (means[at]! - low) / (high - low);
  const last: Coordinate = {
    ...result,
    places: means.map((mean, at) => (mean === null ? undefined : share(at))),
  };
  const axes = [
    ...differences.map(coordinateOf),
    {
      ...last,
      ticks: [
        { at: 0, text: figure(low) },
        { at: 1, text: figure(high) },
      ],
    },
  ];
  const x = (axis: number) => MARGIN.side + (axis / (axes.length - 1)) * (WIDTH - 2 * MARGIN.side);
  const y = (place: number) => HEIGHT - MARGIN.bottom - place * (HEIGHT - MARGIN.top - MARGIN.bottom);
  return (
    <Scroll class="parallel">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Values of ${names.length} combinations and their ${metric}. The table has the same.`}
      >
        {names.map((name, at) => {
          const points = axes.flatMap(({ places }, axis) =>
            places[at] === undefined ? [] : [`${x(axis).toFixed(1)},${y(places[at]).toFixed(1)}`],
          );
          return (
            <polyline
              key={name}
              class={hover === at ? 'chosen' : ''}
              points={points.join(' ')}
              style={{ '--share': 0.25 + 0.75 * (goal === 'max' ? share(at) : 1 - share(at)) ** 2 }}
              onMouseEnter={() => setHover(at)}
              onMouseLeave={() => setHover(undefined)}
            />
          );
        })}
        {axes.map(({ title, ticks }, axis) => (
          <g key={title}>
            <line x1={x(axis)} x2={x(axis)} y1={y(0)} y2={y(1)} />
            <text class="title" x={x(axis)} y={14} text-anchor="middle">
              {title}
            </text>
            {ticks.map(({ at, text }) => (
              <text key={text} x={x(axis) + 6} y={y(at) - 5}>
                {text}
              </text>
            ))}
          </g>
        ))}
      </svg>
      <p class="card-body muted small">
        {hover === undefined
          ? `A line is a combination; the strongest reached the ${goal === 'max' ? 'highest' : 'lowest'} mean. Point at one for its name.`
          : `${names[hover]}: ${means[hover] === null ? 'no value' : figure(means[hover]!)}`}
      </p>
    </Scroll>
  );
}

const numbers = (means: readonly (number | null)[]) => means.filter((mean) => mean !== null);
