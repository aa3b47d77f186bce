/**
 * Verification in child processes, so that it blocks no event loop and ends no process but its own: cancellable, and
 * within a budget of time and memory. A batch over its budget is unverifiable.
 */

import type { RowExplanation } from '../explain/explain.ts';
import type { TokenExplanation } from '../explain/explain-step.ts';
import type { RowQuery } from '../explain/row-columns.ts';
import { bytesInWords } from '../format/budget.ts';
import type { BundleOrigin } from '../format/bundle.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { readWireHeader } from '../format/wire-header.ts';
import type { BatchReport } from '../report/report.ts';
import type { TokenColumns } from '../verify/token-columns.ts';
import { unverifiedReport } from '../verify/verify-batch.ts';
import type { GivenUp } from './child.ts';
import { createChildren, type TaskBudget } from './children.ts';
import type { PoolAnswer, TaskName } from './tasks.ts';
import { createTurns, type Party } from './turns.ts';
import type { FileReports, FileTask } from './verify-upload.ts';

/** `budgetMs` and `budgetBytes`: time and memory that one batch may take in its process. */
export interface VerifierPoolOptions extends TaskBudget {
  /** Child processes at most; as many batches are verified at a time. */
  readonly processes: number;
}

/** A file to verify, and what is stated of it. */
export type UploadedFile = Omit<FileTask, 'budgetBytes'>;

/** Who asks, for a fair order, and until when. */
export interface Asked extends Partial<Party> {
  readonly signal?: AbortSignal | undefined;
}

export interface VerifierPool {
  /**
   * Verifies a protobuf batch or optimizer step. Over budget: a report with all rows unverifiable and the finding `budget-exceeded`. Rejects
   * with a BatchFormatError for bytes that are no batch, with the signal's reason once it aborts, and with
   * VerifierBusyError if no process can be started. Rejects with another error if something outside killed its process.
   */
  verify(wire: Uint8Array, signal?: AbortSignal): Promise<BatchReport>;
  /**
   * Explains a row of a protobuf batch, or a token of an optimizer step. Rejects likewise, and with a RangeError if there is
   * no such row or token or the budget is exceeded. `position` of the token: omitted, the first wrong one of the row.
   */
  explain(
    wire: Uint8Array,
    at: { row: number; position?: number | undefined },
    asked?: Asked,
  ): Promise<RowExplanation | TokenExplanation>;
  /** The tokens of a row of an optimizer step. Rejects likewise. */
  tokens(wire: Uint8Array, row: number, asked?: Asked): Promise<TokenColumns>;
  /** Rows of a protobuf batch as the JSON text of `RowColumns`. Rejects likewise. */
  rows(wire: Uint8Array, query: RowQuery, asked?: Asked): Promise<Uint8Array>;
  /** Writes a protobuf batch as a bundle (see bundle.ts). Rejects likewise. */
  bundle(wire: Uint8Array, origin: BundleOrigin, asked?: Asked): Promise<Uint8Array>;
  /**
   * Verifies a file in any format that `echelon verify` reads. Rejects with a BatchFormatError for a file that cannot be read
   * or exceeds a limit, with a RangeError for options that do not fit it, and otherwise likewise.
   */
  verifyFile(file: UploadedFile, asked?: Asked): Promise<FileReports>;
  /** Ends the processes; what is running is given up. Safe to call twice. */
  close(): Promise<void>;
}

/** Fingerprint in the report of a batch that was given up before it was decoded. */
const UNKNOWN_FINGERPRINT = 'unknown';

/** A batch in memory takes its message and its columns. */
const DECODED_SHARE = 2;

/** A task whose budget did not suffice. The message says why. */
class BudgetError extends Error {
  override readonly name = 'BudgetError';
  /** SIGKILL comes from outside, and possibly for another reason: the batch may be tried again. */
  readonly killed: boolean;

  constructor(message: string, killed = false) {
    super(message);
    this.killed = killed;
  }
}

/** Runs tasks in their turns. */
function startTasks(options: VerifierPoolOptions) {
  const children = createChildren(options);
  const turns = createTurns(options.processes);
  const { budgetBytes } = options;

  /** Throws a BudgetError. */
  async function run<T>(
    name: TaskName,
    task: Readonly<Record<string, unknown>>,
    { project, caller, signal, bytes }: Asked & { bytes?: Uint8Array },
  ): Promise<T> {
    const party = project === undefined || caller === undefined ? undefined : { project, caller };
    const leave = await turns.enter(party, signal);
    try {
      const ended = await children.run({ name, task: { ...task, budgetBytes }, bytes }, signal);
      if (!('answer' in ended)) throw givenUp(ended, options);
      return unwrap(ended.answer as PoolAnswer<T>, options);
    } finally {
      leave();
    }
  }
  return { run, close: () => children.close() };
}

/** Starts a pool. Processes start with the first tasks. Call `close` when done. */
export function createVerifierPool(options: VerifierPoolOptions): VerifierPool {
  const { budgetMs, budgetBytes } = options;
  const { run, close } = startTasks(options);

  async function answered<T>(
    name: TaskName,
    bytes: Uint8Array,
    task: Readonly<Record<string, unknown>>,
    asked: Asked = {},
  ): Promise<T> {
    try {
      return await run<T>(name, task, { ...asked, bytes });
    } catch (error) {
      throw error instanceof BudgetError ? new RangeError(error.message) : error;
    }
  }

  return {
    async verify(wire, signal) {
      const { name, rows } = readWireHeader(wire);
      try {
        if (wire.byteLength * DECODED_SHARE > budgetBytes) throw new BudgetError(overMemory(options));
        return await run<BatchReport>('verify', {}, { signal, bytes: wire });
      } catch (error) {
        if (!(error instanceof BudgetError) || error.killed) throw error;
        const about = { name, rows, fingerprint: UNKNOWN_FINGERPRINT };
        return unverifiedReport(about, `Given up: ${error.message}.`);
      }
    },
    explain: (wire, at, asked) => answered('explain', wire, at, asked),
    tokens: (wire, row, asked) => answered('tokens', wire, { row }, asked),
    rows: (wire, query, asked) => answered('rows', wire, { query }, asked),
    bundle: (wire, origin, asked) => answered('bundle', wire, { origin }, asked),
    async verifyFile(file, asked = {}) {
      try {
        return await run<FileReports>('verifyFile', { ...file }, asked);
      } catch (error) {
        if (!(error instanceof BudgetError)) throw error;
        const expected = `a file whose verification takes at most ${budgetMs / 1000} s and ${bytesInWords(budgetBytes)} of memory`;
        throw new BatchFormatError({ code: 'too-large', file: file.name, expected, found: error.message });
      }
    },
    close,
  };
}

function overMemory({ budgetBytes }: TaskBudget): string {
  return `it takes more than ${bytesInWords(budgetBytes)} of memory`;
}

function givenUp(ended: GivenUp, budget: TaskBudget): BudgetError {
  if ('overTime' in ended) return new BudgetError(`it takes more than ${budget.budgetMs / 1000} s`);
  const reason = `${overMemory(budget)}, or ends its process otherwise (${ended.died})`;
  return new BudgetError(reason, ended.died === 'SIGKILL');
}

function unwrap<T>(answer: PoolAnswer<T>, budget: TaskBudget): T {
  if ('value' in answer) return answer.value;
  if ('fault' in answer) throw new BatchFormatError(answer.fault);
  if ('exhausted' in answer) throw new BudgetError(`${overMemory(budget)} (${answer.exhausted})`);
  throw new RangeError(answer.outOfRange);
}
