import type { AttemptEvent, Ended, EvaluationEvent, NumberedEvent } from './events.ts';
import { isMetricName } from './metric-name.ts';

/*
 * What always holds: no event that is recorded is larger than these bounds, whatever a ray-worker sends. A current one
 * applies bounds of its own, at most as large, so that here only an older or a broken one is cut.
 */

/** Metrics of one event. */
export const MAX_METRICS_PER_EVENT = 4000;
const MAX_TEXT = 1024;
const MAX_MESSAGE = 4096;
const MAX_LINE = 32 * 1024;
const MAX_PROGRESS = 2000;
const MAX_LINES = 65_536;
const MAX_LOG_CHARACTERS = 1024 * 1024;
const MAX_LAST_LINES = 50;
const MAX_ARGUMENTS = 4096;
const MAX_DIGEST = 64;
export const MAX_GAMES_PER_EVENT = 2000;
export const MAX_GAME_NAME = 256;
const MAX_DECODING = 32;
/** Larger numbers mean nothing; sums of any many of these stay exact. */
const MAX_NUMBER = 2 ** 32 - 1;
/** Events that stand at their step; a batch part is bounded at its source, since its parts belong together. */
const PLACED: ReadonlySet<string> = new Set(['metrics', 'checkpoint', 'stored', 'evaluation']);
const CUT_MARK = '… [cut]';

/** The event within the bounds. What is cut shows: by a mark, by counts, or by a gap in the event's place. */
export function boundEvent(event: AttemptEvent): AttemptEvent {
  // Another step in its place would be wrong.
  if (PLACED.has(event.type) && 'step' in event && event.step > MAX_NUMBER)
    return refused(0, `a training step is larger than ${MAX_NUMBER.toLocaleString('en')}`);
  return boundFields(event);
}

function boundFields(event: AttemptEvent): AttemptEvent {
  switch (event.type) {
    case 'started':
      return {
        ...event,
        nodeId: shortened(event.nodeId, MAX_TEXT),
        command: firstOf(event.command, MAX_ARGUMENTS, MAX_LINE),
      };
    case 'stage':
      return {
        ...event,
        name: shortened(event.name, MAX_TEXT),
        step: event.step > MAX_NUMBER ? 0 : whole(event.step),
        steps: whole(event.steps),
      };
    case 'log':
      return boundLog(event);
    case 'metrics':
      return boundMetrics(event);
    case 'batch':
      return {
        ...event,
        step: whole(event.step),
        batch: whole(event.batch),
        digest: event.digest.slice(0, MAX_DIGEST),
      };
    case 'checkpoint':
      // A path that was cut would name another file.
      if (event.path.length <= MAX_TEXT) return { ...event, step: whole(event.step) };
      return refused(event.path.length, `a checkpoint's path has more than ${MAX_TEXT} characters`);
    case 'stored':
      // Anything else could be a text that nothing redacts.
      if (/^[0-9a-f]{64}$/.test(event.manifest)) return { ...event, step: whole(event.step) };
      return refused(0, 'the digest of a manifest is not 64 hexadecimal digits');
    case 'evaluation':
      return boundEvaluation(event);
    case 'gap':
      return {
        ...event,
        reason: shortened(event.reason, MAX_TEXT),
        step: whole(event.step),
        count: whole(event.count),
        bytes: exact(event.bytes),
        rows: whole(event.rows),
      };
    case 'ended':
      return boundEnded(event);
  }
}

/** How a driver ended, within the bounds. */
export function boundEnded(ended: Ended): Ended {
  return {
    ...ended,
    message: shortened(ended.message, MAX_MESSAGE),
    lastLines: firstOf(ended.lastLines, MAX_LAST_LINES, MAX_MESSAGE),
  };
}

/** See {@link boundEvent}; number, time and bytes stay. */
export function boundNumbered(numbered: NumberedEvent): NumberedEvent {
  return { ...numbered, event: boundEvent(numbered.event) };
}

/** A number that counts something: whole, not negative, at most 2³² − 1. */
export function whole(value: number): number {
  return value >= 0 ? Math.min(Math.trunc(value), MAX_NUMBER) : 0;
}

function exact(value: number): number {
  return value >= 0 ? Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER) : 0;
}

/** A text of at most `most` characters; a mark shows that it was cut. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most - CUT_MARK.length) + CUT_MARK;
}

function firstOf(texts: readonly string[], most: number, length: number): string[] {
  const first = texts.slice(0, most).map((text) => shortened(text, length));
  if (texts.length > most) first[most - 1] = CUT_MARK;
  return first;
}

function boundLog(event: Extract<AttemptEvent, { type: 'log' }>): AttemptEvent {
  const lines: string[] = [];
  let cutBytes = exact(event.cutBytes);
  let room = MAX_LOG_CHARACTERS;
  for (const [at, line] of event.lines.entries()) {
    if (at >= MAX_LINES || room <= 0) {
      cutBytes += line.length + 1;
      continue;
    }
    const fitting = line.slice(0, Math.min(MAX_LINE, room));
    lines.push(fitting);
    cutBytes += line.length - fitting.length;
    room -= fitting.length + 1;
  }
  const { progress } = event;
  return { ...event, lines, cutBytes, ...(progress ? { progress: shortened(progress, MAX_PROGRESS) } : {}) };
}

function boundMetrics(event: Extract<AttemptEvent, { type: 'metrics' }>): AttemptEvent {
  const names = Object.keys(event.values);
  const fitting = names.filter(isMetricName).slice(0, MAX_METRICS_PER_EVENT);
  if (fitting.length === names.length) return event;
  const values = Object.fromEntries(fitting.map((name) => [name, event.values[name]!]));
  return { ...event, values, omitted: names.length - fitting.length };
}

/** A game whose name was cut would be another game, and an evaluation without some of its games another evaluation. */
function boundEvaluation(event: EvaluationEvent): AttemptEvent {
  const decoding = Object.entries(event.decoding);
  const words = [event.panel, ...decoding.flat(), ...event.games.map(({ game }) => game)];
  const isNumber = ({ success, score }: EvaluationEvent['games'][number]) =>
    Number.isFinite(success) && Number.isFinite(score);
  if (event.games.length > MAX_GAMES_PER_EVENT || decoding.length > MAX_DECODING)
    return refused(0, `an evaluation has more than ${MAX_GAMES_PER_EVENT} games or ${MAX_DECODING} settings`);
  if (words.some((word) => word.length > MAX_GAME_NAME))
    return refused(0, `a name in an evaluation has more than ${MAX_GAME_NAME} characters`);
  // Anything else could be a text that nothing redacts.
  if (!/^([0-9a-f]{64})?$/.test(event.digest))
    return refused(0, 'the digest of an evaluation is not 64 hexadecimal digits');
  if (!event.games.every(isNumber)) return refused(0, 'a result in an evaluation is not a number');
  const games = event.games.map(({ game, replicate, success, score, steps, invalidSteps }) => ({
    game,
    replicate: whole(replicate),
    success,
    score,
    steps: whole(steps),
    invalidSteps: whole(invalidSteps),
  }));
  return { ...event, step: whole(event.step), games };
}

function refused(bytes: number, reason: string): AttemptEvent {
  return { type: 'gap', kind: 'reports', step: 0, count: 1, bytes, rows: 0, reason };
}
