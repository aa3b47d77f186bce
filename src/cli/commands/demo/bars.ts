import { MultiBar, type SingleBar } from 'cli-progress';
import type { Experiment } from 'echelon-client/calls';
import { successRate } from '../../states.ts';

/** Shows the progress of several experiments. */
export interface Bars {
  update(experiment: Experiment): void;
  stop(): void;
}

const FORMAT = '  {name} [{bar}] {step} | success {success} | rows verified {verified} | {note}';

/** One bar per experiment on a terminal; elsewhere a line after each tenth and each change of state. */
export function createBars(names: string[], stream: NodeJS.WriteStream): Bars {
  return stream.isTTY ? liveBars(names, stream) : lines(stream);
}

function facts(experiment: Experiment) {
  const { progress, verification } = experiment;
  return {
    step: progress.steps > 0 ? `step ${String(progress.step).padStart(3)}/${progress.steps}` : 'step   -',
    success: successRate(experiment).padStart(5),
    verified: `${verification.rowsVerified}/${verification.rowsSeen}`.padEnd(13),
    note: experiment.state === 'running' ? stageOf(progress.stage) : experiment.state,
  };
}

/** A stage that names the step is omitted: the step has its own column. */
function stageOf(stage: string): string {
  return stage === '' || /^step \d/.test(stage) ? 'running' : stage;
}

function liveBars(names: string[], stream: NodeJS.WriteStream): Bars {
  const width = Math.max(...names.map((name) => name.length));
  const bars = new MultiBar({
    format: FORMAT,
    stream,
    hideCursor: true,
    barsize: 20,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    clearOnComplete: false,
  });
  const empty = { step: 'step   -', success: '    -', verified: '0/0'.padEnd(13), note: 'queued' };
  const byName = new Map<string, SingleBar>(
    names.map((name) => [name, bars.create(1, 0, { name: name.padEnd(width), ...empty })]),
  );
  return {
    update(experiment) {
      const bar = byName.get(experiment.name)!;
      bar.setTotal(experiment.progress.steps || 1);
      bar.update(experiment.progress.step, facts(experiment));
    },
    stop: () => bars.stop(),
  };
}

function lines(stream: NodeJS.WriteStream): Bars {
  const shown = new Map<string, string>();
  return {
    update(experiment) {
      const { step, steps } = experiment.progress;
      const key = `${experiment.state} ${steps > 0 ? Math.floor((10 * step) / steps) : 0}`;
      if (shown.get(experiment.id) === key) return;
      shown.set(experiment.id, key);
      const { step: at, success, verified, note } = facts(experiment);
      stream.write(
        `  ${experiment.name.padEnd(10)} ${at} | success ${success} | rows verified ${verified} | ${note}\n`,
      );
    },
    stop: () => undefined,
  };
}
