import type { PaperFigures, Preset, PresetSettings } from '../engines/engine.ts';
import { type ExperimentSpec, experimentsOf } from '../engines/registry.ts';
import type { SweepAxis } from '../schemas/sweep.ts';
import type { SweepBase, SweepEntry } from './sweep.ts';

/** Published figures by metric, in the metric's own unit. */
type Reference = Readonly<Record<string, number>>;

/** One child of a sweep whose children have a spec each. */
export interface ChainChild {
  spec: ExperimentSpec;
  /** Its row in the comparison: children that differ in nothing but the seed are aggregated. */
  place: { run: string; phase: string; seed: number };
  /** Index of the child that must succeed first; such children come after all others. */
  after?: number;
  reference?: Reference;
}

/** What the children of such a sweep are made from. */
interface ChainSpec {
  children: readonly Pick<ChainChild, 'spec' | 'reference'>[];
}

/** A sweep whose children have a spec each, some of which wait for others. */
export interface ChainDraft extends SweepBase {
  method: 'preset';
  spec: ChainSpec;
  entries: SweepEntry[];
  after: Record<number, number>;
}

const SUCCESS = 'val/success_rate';
const SCORE = 'val/webshop_task_score (not success_rate)';

/** Orders children so that those that wait come last, and keeps their places as axes. */
export function draftChain(name: string, given: readonly ChainChild[]): ChainDraft {
  const order = given
    .map((_child, at) => at)
    .sort(
      (left, right) => Number(given[left]!.after !== undefined) - Number(given[right]!.after !== undefined),
    );
  const children = order.map((at) => given[at]!);
  const values = <T>(of: (child: ChainChild) => T): T[] => [...new Set(children.map(of))];
  const places = [
    values(({ place }) => place.run),
    values(({ place }) => place.phase),
    values(({ place }) => place.seed),
  ] as const;
  const pointers = ['/run', '/phase', '/environment/seed'];
  const axes = places.map((all, at): SweepAxis => ({ pointer: pointers[at]!, values: all }));
  const entries = children.map(({ place: { run, phase, seed } }, index) => [
    places[0].indexOf(run),
    places[1].indexOf(phase),
    places[2].indexOf(seed),
    index,
  ]);
  const after = Object.fromEntries(
    children.flatMap((child, index) =>
      child.after === undefined ? [] : [[index, order.indexOf(child.after)] as const],
    ),
  );
  const spec: ChainSpec = {
    children: children.map((child) => ({
      spec: child.spec,
      ...(child.reference !== undefined && { reference: child.reference }),
    })),
  };
  return { name, method: 'preset', spec, axes, entries, after };
}

/** A preset as a sweep: every training, followed by the evaluations of its own last checkpoint. */
export function draftPreset(
  preset: Preset<ExperimentSpec>,
  options: PresetSettings & {
    name?: string;
    /** Names of the trainings to run. Default: all. */
    runs?: readonly string[];
  } = {},
): ChainDraft {
  const { name = preset.name, runs = preset.runs.map((run) => run.name), ...settings } = options;
  const children: ChainChild[] = [];
  for (const run of preset.runs.filter((one) => runs.includes(one.name))) {
    const training = children.length;
    for (const { spec, phase, seed } of experimentsOf(preset, run, settings)) {
      const reference = referenceOf(run.figures, phase);
      children.push({
        spec,
        place: { run: run.name, phase, seed },
        ...(children.length > training && { after: training }),
        ...(reference !== undefined && { reference }),
      });
    }
  }
  return draftChain(name, children);
}

/** What the paper has for a phase, as a share of one like the metric. */
function referenceOf(figures: PaperFigures, phase: string): Reference | undefined {
  const { inDomainSuccess, outOfDomainSuccess, webshopScore, webshopSuccess } = figures;
  const known: Record<string, readonly [metric: string, percent: number | undefined][]> = {
    seen: [[SUCCESS, inDomainSuccess]],
    unseen: [[SUCCESS, outOfDomainSuccess]],
    evaluation: [
      [SCORE, webshopScore],
      [SUCCESS, webshopSuccess],
    ],
  };
  const found = (known[phase] ?? []).flatMap(([metric, percent]) =>
    percent === undefined ? [] : [[metric, Number((percent / 100).toFixed(6))] as const],
  );
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** The published figures of a child, and null if there are none. */
export function childReference(spec: unknown, entry: SweepEntry): Reference | null {
  return (spec as Partial<ChainSpec>).children?.[entry.at(-1)!]?.reference ?? null;
}

/** Metrics for which any child has published figures. */
export function referenceMetrics(spec: unknown): string[] {
  const children = (spec as Partial<ChainSpec>).children ?? [];
  return [...new Set(children.flatMap(({ reference }) => Object.keys(reference ?? {})))];
}
