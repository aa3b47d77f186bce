import { inert } from 'command-kit/inert';
import { table } from 'command-kit/table';
import { wrapped } from 'command-kit/width';
import type { ExperimentDetail, ExperimentRules } from 'echelon-client/calls';
import { type Client, MAX_PAGE, readPages } from '../client.ts';
import { time } from '../states.ts';

/** The lists that `echelon get` shows below an experiment; `ruleStates` says when each rule fired. */
export async function partsOfExperiment(
  client: Client,
  { id, attempt, rules }: Pick<ExperimentDetail, 'id' | 'attempt' | 'rules'>,
) {
  const path = { id };
  const hasRun = attempt > 0;
  const [attempts, artifacts, ruleStates] = await Promise.all([
    hasRun ? client.get('/v1/experiments/{id}/attempts', { path }) : NONE,
    hasRun
      ? readPages((query) => client.get('/v1/experiments/{id}/artifacts', { path, query }), {
          maxPage: MAX_PAGE,
        })
      : NONE,
    rules.length > 0 ? client.get('/v1/experiments/{id}/rules', { path }) : NO_RULES,
  ]);
  return { attempts: attempts.items, artifacts: artifacts.items, ruleStates };
}

const NONE = { items: [] };
const NO_RULES: ExperimentRules = { rules: [], marks: 0, stoppedBy: null };

type Parts = Awaited<ReturnType<typeof partsOfExperiment>>;

/** One text for each list that is not empty. */
export function partTexts({ attempts, artifacts, ruleStates }: Parts, width: number | undefined): string[] {
  return [
    ...(attempts.length > 0 ? [attemptTable(attempts, width)] : []),
    ...(artifacts.length > 0 ? [artifactTable(artifacts, width)] : []),
    ...(ruleStates.rules.length > 0 ? [rulesText(ruleStates, width)] : []),
  ];
}

function attemptTable(attempts: Parts['attempts'], width: number | undefined): string {
  const rows = attempts.map(({ attempt, cluster, claimedAt, confirmedAt, lastSequence, ended }) => [
    attempt,
    inert(cluster),
    time(claimedAt),
    confirmedAt === null ? '-' : time(confirmedAt),
    lastSequence,
    endOf(ended),
  ]);
  return table(['ATTEMPT', 'CLUSTER', 'CLAIMED', 'LAUNCHED', 'EVENTS', 'ENDED'], rows, width);
}

/** How a driver ended, by its last event. */
function endOf(ended: unknown): string {
  if (ended === null) return '-';
  const { cause, message } = ended as { cause: string; message: string };
  // The message of a stopped driver begins with its cause.
  const rest = message.startsWith(`${cause}: `) ? message.slice(cause.length + 2) : message;
  return inert(rest === '' ? cause : `${cause}: ${rest}`);
}

function artifactTable(artifacts: Parts['artifacts'], width: number | undefined): string {
  const rows = artifacts.map(({ kind, step, attempt, at, path }) => [
    kind,
    step,
    attempt,
    time(at),
    inert(path),
  ]);
  return table(['KIND', 'STEP', 'ATTEMPT', 'TIME', 'PATH'], rows, width);
}

/** A table of the rules, then one line for each time that a rule fired. */
function rulesText({ rules, stoppedBy }: ExperimentRules, width: number | undefined): string {
  const rows = rules.map(({ name, do: action, condition, fired }) => [
    inert(name),
    action,
    inert(condition),
    fired.length === 0
      ? '-'
      : fired.map(({ attempt, step }) => `attempt ${attempt}, step ${step}`).join('; '),
  ]);
  const lines = rules.flatMap(({ fired }) => fired.map(({ reason }) => wrapped(`  ${inert(reason)}`, width)));
  return [
    table(['RULE', 'DOES', 'CONDITION', 'FIRED'], rows, width),
    ...(lines.length > 0 ? ['', ...lines] : []),
    ...(stoppedBy === null ? [] : ['', `stopped by ${inert(stoppedBy.rule)}`]),
  ].join('\n');
}
