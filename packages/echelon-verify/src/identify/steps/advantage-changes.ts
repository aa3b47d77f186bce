import type { StepBatch } from '../../format/step-batch.ts';
import type { StepModel } from '../../step/model/model.ts';
import type { Change } from './change.ts';

/** Relative agreement of an advantage that follows from a gradient coefficient. */
const NEAR = 1e-5;

/** Rows among which an order is solved for. */
const MAX_ROWS = 2000;

/** Rows that are trained with the advantages of other rows: shifted, in reverse, or in an order that is solved for. */
export function advantageChanges(batch: StepBatch, model: StepModel | undefined): Change[] {
  const own = batch.reportedAdvantage;
  if (own === undefined || batch.tokens.reportedAdvantage !== undefined || batch.rows < 2) return [];
  const at = (text: string, from: (row: number) => number): Change => ({
    dimension: 'advantage',
    text,
    apply: (changed) => ({
      ...changed,
      reportedAdvantage: own.map((_, row) => own[(from(row) + batch.rows) % batch.rows]!),
    }),
  });
  const simple = [
    at('each row has the advantage of the row before it', (row) => row - 1),
    at('each row has the advantage of the row after it', (row) => row + 1),
    at('the advantages are in reverse order', (row) => batch.rows - 1 - row),
  ];
  const order = model !== undefined && batch.rows <= MAX_ROWS ? solvedOrder(batch, model) : undefined;
  if (order === undefined) return simple;
  const moved = order.flatMap((from, row) => (from === row ? [] : [`row ${row} that of row ${from}`]));
  const shown = moved.slice(0, 3).join(', ');
  const more = moved.length > 3 ? ` and ${moved.length - 3} more` : '';
  return [...simple, at(`rows have the advantages of other rows: ${shown}${more}`, (row) => order[row]!)];
}

/** The row from which each row has its advantage; undefined if some row has none of them, or all have their own. */
function solvedOrder(batch: StepBatch, model: StepModel): number[] | undefined {
  const own = batch.reportedAdvantage!;
  const used = new Set<number>();
  const order: number[] = [];
  for (let row = 0; row < batch.rows; row++) {
    const found = advantageOf(batch, model, row);
    if (found === undefined) {
      order.push(row);
      continue;
    }
    const isNear = (from: number) =>
      Math.abs(own[from]! - found) <= NEAR * Math.max(Math.abs(found), Math.abs(own[from]!));
    // A row keeps its own advantage if it may; equal advantages are taken in turn.
    const from = isNear(row) ? row : own.findIndex((_, at) => !used.has(at) && isNear(at));
    if (from < 0) return undefined;
    used.add(from);
    order.push(from);
  }
  return order.every((from, row) => from === row) ? undefined : order;
}

/** The advantage that most tokens of a row have by their coefficients, if the loss is the ratio times the advantage there. */
function advantageOf(batch: StepBatch, model: StepModel, row: number): number | undefined {
  const { offset, lossGradient } = batch.tokens;
  const { kept } = model;
  const unit = -model.scaleOf(model.layout.microBatchOf(row)) / model.divisorOf(row);
  const found: number[] = [];
  model.startRow(row);
  for (let token = offset[row]!; token < offset[row + 1]!; token++) {
    if (kept?.[token] === 0) continue;
    const { state, klPart, weight } = model.evaluate(row, token);
    const factor = unit * state.ratio * (weight.value > 0 ? weight.value : 1);
    const off = lossGradient![token]! - klPart.value;
    if (off !== 0) found.push(off / factor);
  }
  if (found.length === 0) return undefined;
  return found.toSorted((a, b) => a - b)[found.length >> 1];
}
