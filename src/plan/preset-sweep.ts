import type { ExperimentSpec } from '../engines/registry.ts';
import {
  evaluationsOf,
  type PaperFigures,
  type Preset,
  type PresetRun,
} from '../engines/verl-agent/presets.ts';
import { resolveVerlAgent } from '../engines/verl-agent/resolve.ts';
import type { SweepAxis } from '../schemas/sweep.ts';
import type { SweepBase, SweepEntry } from './sweep.ts';

/** Published figures by metric, in the metric's own unit. */
export type Reference = Readonly<Record<string, number>>;

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
export interface ChainSpec {
  children: readonly Pick<ChainChild, 'spec' | 'reference'>[];
}

/** A sweep whose children have a spec each, some of which wait for others. */
export interface ChainDraft extends SweepBase {
  method: 'preset';
  spec: ChainSpec;
  entries: SweepEntry[];
  after: Record<number, number>;
}

/** What a person may choose of a preset; it goes to every child. */
export interface PresetOptions {
  name?: string;
  project?: string;
  cluster?: string;
  priority?: number;
  /** The verl-agent checkout on the cluster. */
  home?: string;
  /** Keeps the checkpoints apart from those of another submission. */
  label?: string;
  /** Names of the trainings to run. Default: all. */
  runs?: readonly string[];
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
export function draftPreset(preset: Preset, options: PresetOptions = {}): ChainDraft {
  const { runs = preset.runs.map(({ name }) => name) } = options;
  const children: ChainChild[] = [];
  for (const run of preset.runs.filter(({ name }) => runs.includes(name))) {
    children.push(...childrenOf(run, options, children.length));
  }
  return draftChain(options.name ?? preset.name, children);
}

function childrenOf(
  { name: run, train, figures }: PresetRun,
  options: PresetOptions,
  at: number,
): ChainChild[] {
  const { project, cluster, priority, home, label } = options;
  const chosen = {
    ...(project !== undefined && { project }),
    ...(cluster !== undefined && { cluster }),
    ...(priority !== undefined && { priority }),
    ...(home !== undefined && { home }),
  };
  const training = { ...train, ...chosen, ...(label !== undefined && { checkpoints: { label } }) };
  const { seed } = resolveVerlAgent(training).environment;
  const evaluations = evaluationsOf(training).map((evaluation): ChainChild => {
    const phase = evaluation.evaluation!.split ?? 'evaluation';
    const reference = referenceOf(figures, phase);
    return {
      spec: { ...evaluation, ...chosen },
      place: { run, phase, seed: evaluation.environment!.seed! },
      after: at,
      ...(reference !== undefined && { reference }),
    };
  });
  return [{ spec: training, place: { run, phase: 'train', seed } }, ...evaluations];
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
