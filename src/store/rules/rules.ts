import type { RuleEvent } from '../../core/events.ts';
import type { State } from '../../core/states.ts';
import { withPatch } from '../experiments/documents.ts';
import { toMetricNumbers, toStoredEntries, toStreamEntry } from '../metrics/metric-entries.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded } from '../redis/errors.ts';
import type { ScriptArgument } from '../redis/scripts.ts';
import type { RulesStore } from './contract.ts';

type SignalTexts = [string, string, string, string, string, State | '', string, string, string, string];

/*
 * {root}:signals           sorted set: experiments with new events for their rules, by the time they may be taken
 * {root}:signals:waits     sorted set: experiments that wait for a checkpoint, by the end of the wait
 * {root}:x:<id>:rules      hash: cursor, memory (JSON), `fired:<rule>:<attempt>` → when
 * {root}:x:<id>:kept       set: `<attempt>:<batch>` that retention does not delete
 * {root}:sweep:<id>:average:<step>   hash: running average by child
 */

/** See {@link RulesStore}. */
export function createRules(context: StoreContext): RulesStore {
  const { redis, keys, run } = context;
  return {
    async takeSignals(limit, leaseMs) {
      const [now, ids] = (await run('take-signals', [limit, leaseMs])) as [string, string[]];
      return { now: Number(now), ids };
    },

    async readSignals(id, limit) {
      const page = (await run.bytes('read-signals', [id, limit])) as unknown[];
      const [rows, numbers] = page.slice(10) as [Buffer[][], Buffer[]];
      const texts = page.slice(0, 10).map(String) as string[];
      const [cursor, memory, resolved, sweep, index, state, last, more, shared, patch] = texts as SignalTexts;
      const names = toMetricNumbers(numbers);
      return {
        ...{ experiment: id, cursor, last, more: more === '1' },
        memory: readJson(memory),
        resolved: patch === '' ? readJson(resolved) : withPatch(shared, patch).resolved,
        sweep: sweep || null,
        sweepIndex: index === '' ? null : Number(index),
        state: state || null,
        entries: toStoredEntries(rows).map((entry) => toStreamEntry(entry, names)),
      };
    },

    backlog: () => guarded(redis.zcard(`${keys.root}:signals`)),

    async dropSignals(id) {
      await guarded(redis.zrem(`${keys.root}:signals`, id));
    },

    async advance({ experiment, cursor, last, memory, due, fired, stop }) {
      const args: ScriptArgument[] = [experiment, cursor, last, JSON.stringify(memory)];
      args.push(due === null ? 0 : Math.ceil(due), stop?.rule ?? '', stop?.reason ?? '');
      for (const event of fired)
        args.push(event.rule, event.attempt, JSON.stringify(event), keptField(event));
      const [outcome, stopped, ...recorded] = (await run('advance-rules', args)) as [
        'ok' | 'moved' | 'gone',
        string,
        ...string[],
      ];
      return outcome === 'ok' ? { outcome, stopped: stopped === '1', recorded } : { outcome };
    },

    keptBatches: (id) => guarded(redis.smembers(`${keys.experiment(id)}:kept`)),
  };
}

function readJson(text: string): unknown {
  return text === '' ? null : JSON.parse(text);
}

function keptField({ attempt, batch }: RuleEvent): string {
  return batch === null ? '' : `${attempt}:${batch}`;
}
