import { counted } from 'command-kit/plural';
import {
  type ComparisonDetail,
  type ComparisonResult,
  differenceAxis,
  points,
  signedPoints,
} from '../../models/comparison.ts';
import { inert } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { Fact } from '../../parts/marks.tsx';

/** Lines on which the points of the seeds stand, so that equal ones do not hide each other. */
const LINES = 4;
const share = (part: number) => `${100 * part}%`;

/** A method against the baseline: its seeds as points, the interval of their mean, and the margin. */
export function Differences({ result, plan }: { result: ComparisonResult; plan: ComparisonDetail['plan'] }) {
  const { method, differences, difference, interval, level } = result;
  const [low, high] = interval as [number, number];
  const { ticks, placeOf } = differenceAxis(result, plan.margin);
  const at = (part: number) => placeOf(100 * part);
  const range = `${signedPoints(low)} to ${signedPoints(high)}`;
  const label = `${counted(differences.length, 'seed')} from ${signedPoints(Math.min(...differences))} to ${signedPoints(Math.max(...differences))} points; mean ${signedPoints(difference)}, interval ${range}, margin ±${plan.margin}`;
  const width = (from: number, to: number) => ({ left: share(from), width: share(to - from) });
  return (
    <Card
      title={`${inert(method)} minus ${inert(plan.baseline)}`}
      note="points of success; a point is a seed, the bar is the interval of the mean, the band is the margin"
    >
      <div class="seed-plot" role="img" aria-label={label}>
        <span class="margin" style={width(placeOf(-plan.margin), placeOf(plan.margin))} />
        {ticks.map((tick) => (
          <span key={tick} class={tick === 0 ? 'tick zero' : 'tick'} style={{ left: share(placeOf(tick)) }}>
            <span>{tick}</span>
          </span>
        ))}
        {differences.map((one, index) => (
          <span
            key={plan.seeds[index]}
            class="seed"
            title={`seed ${plan.seeds[index]}: ${signedPoints(one)}`}
            style={{ left: share(at(one)), top: `${12 + 14 * (index % LINES)}px` }}
          />
        ))}
        <span class="bar-of-mean" style={width(at(low), at(high))} />
        <span class="mean" style={{ left: share(at(difference)) }} />
      </div>
      <dl class="facts card-body">
        <Fact name="Difference">{signedPoints(difference)} points</Fact>
        <Fact name={`${(100 * level).toFixed(1)} % interval`}>{range}</Fact>
        <Fact name="Seeds × games × replicates">
          {result.seeds} × {result.games} × {plan.replicates}
        </Fact>
        <Fact name="t test">p = {result.p.toPrecision(2)}</Fact>
        {result.signFlipP !== null && <Fact name="Sign flips">p = {result.signFlipP.toPrecision(2)}</Fact>}
        <Fact name="Deviation between runs">{result.runDeviation.map(points).join(' and ')}</Fact>
        <Fact name="Error of one evaluation">{result.evaluationError.map(points).join(' and ')}</Fact>
        <Fact name="Smallest detectable difference">{points(result.detectable)}</Fact>
      </dl>
    </Card>
  );
}
