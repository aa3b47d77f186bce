import { api } from '../app/api.ts';
import { useResource } from '../app/resource.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { Ago } from '../parts/marks.tsx';
import { PlainTable } from '../parts/plain-table.tsx';
import { Await, Empty } from '../parts/states.tsx';

const LOOKED_AT = 200;

/** Which rules have fired, and the presets to choose from. */
export function Rules() {
  const list = useResource(
    (signal) => api.get('/v1/experiments', { query: { limit: LOOKED_AT }, signal }),
    ['rules'],
  );
  const presets = useResource((signal) => api.get('/v1/rules/presets', { signal }), ['presets']);
  return (
    <>
      <Head title="Rules" command={command('rules')} />
      <div class="stack">
        <Await of={list}>
          {({ items, next }) => {
            const fired = items
              .flatMap(({ id, name, rules }) =>
                rules.flatMap((rule) =>
                  rule.fired.map((one) => ({ id, name, rule: rule.name, does: rule.do, ...one })),
                ),
              )
              .sort((a, b) => b.at - a.at);
            return (
              <section class="card scroll">
                <div class="card-head">
                  <h2>Fired</h2>
                  <span class="muted">
                    {count(fired.length)}{' '}
                    {next === null ? 'in all experiments' : `in the newest ${LOOKED_AT} experiments`}
                  </span>
                </div>
                {fired.length === 0 ? (
                  <Empty title="No rule has fired" />
                ) : (
                  <PlainTable columns={['Rule', 'Experiment', 'Step', 'What happened', 'When']}>
                    {fired.map(({ id, name, rule, does, attempt, batch, step, reason, at }) => (
                      <tr key={`${id} ${rule} ${attempt} ${step} ${at}`}>
                        <td>
                          <span class="code">{rule}</span> <span class="muted">{does}</span>
                        </td>
                        <td>
                          <a href={`/experiments/${id}`}>{inert(name)}</a>
                        </td>
                        <td>
                          {batch === null ? (
                            step
                          ) : (
                            <a href={`/experiments/${id}/batches/${attempt}/${batch}`}>
                              {step} (batch {batch})
                            </a>
                          )}
                        </td>
                        <td class="wrap">{inert(reason)}</td>
                        <td class="muted">
                          <Ago at={at} />
                        </td>
                      </tr>
                    ))}
                  </PlainTable>
                )}
              </section>
            );
          }}
        </Await>
        <Await of={presets}>
          {({ items }) => (
            <section class="card scroll">
              <div class="card-head">
                <h2>Presets</h2>
                <span class="muted">{count(items.length)}, for the field rules of a spec</span>
              </div>
              <PlainTable columns={['Preset', 'Meaning', 'Condition']}>
                {items.map(({ name, means, condition }) => (
                  <tr key={name}>
                    <td>
                      <span class="code">{name}</span>
                    </td>
                    <td>{means}</td>
                    <td class="muted">{condition}</td>
                  </tr>
                ))}
              </PlainTable>
            </section>
          )}
        </Await>
      </div>
    </>
  );
}
