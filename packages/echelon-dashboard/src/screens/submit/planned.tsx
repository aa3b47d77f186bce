import { counted } from 'command-kit/plural';
import { inert } from '../../models/words.ts';
import { Fact } from '../../parts/marks.tsx';
import type { Plan, SweepPreview } from './check.ts';

/** What a valid spec would run. */
export function Planned({ plan }: { plan: Plan }) {
  const { plan: launch, fingerprint, commandLine, checks, corrections, changes } = plan;
  return (
    <>
      <p class="good">
        <span aria-hidden="true">✓</span> The spec is valid.
      </p>
      <dl class="facts">
        <Fact name="Needs">
          {counted(launch.gpus, 'GPU')}, {counted(launch.cpus, 'CPU')}
        </Fact>
        <Fact name="Estimator">
          {fingerprint === null ? 'stated by the batches' : <code>{inert(fingerprint)}</code>}
        </Fact>
      </dl>
      {checks.length > 0 && (
        <ul class="findings" aria-label="Checks">
          {checks.map(({ severity, message, remedy }) => (
            <li key={message} class={severity === 'error' ? 'error' : ''}>
              {inert(`${message} ${remedy}`)}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>Command line</summary>
        <pre class="plan">{inert(commandLine)}</pre>
      </details>
      <Differences title="Corrections of the recipe's script" of={corrections} />
      <Differences title="Changes of the recipe's script" of={changes} />
    </>
  );
}

/** What a valid sweep would run. */
export function PlannedSweep({ sweep: { count, children, warnings } }: { sweep: SweepPreview }) {
  return (
    <>
      <p class="good">
        <span aria-hidden="true">✓</span> The sweep is valid: {counted(count, 'child', 'children')}.
      </p>
      {warnings.map((warning) => (
        <p key={warning}>{inert(warning)}</p>
      ))}
      <ul class="differences" aria-label="Children">
        {children.map(({ index, name }) => (
          <li key={index}>{inert(name)}</li>
        ))}
        {count > children.length && <li class="muted">and {count - children.length} more</li>}
      </ul>
    </>
  );
}

type Difference = Plan['changes'][number] & { reason?: string };

function Differences({ title, of }: { title: string; of: readonly Difference[] }) {
  if (of.length === 0) return null;
  return (
    <details>
      <summary>
        {title} ({of.length})
      </summary>
      <ul class="differences">
        {of.map(({ key, from, to, reason }) => (
          <li key={key}>
            <code>{inert(key)}</code>: {inert(from ?? '(not passed)')} → {inert(to ?? '(not passed)')}
            {reason && <div class="muted">{inert(reason)}</div>}
          </li>
        ))}
      </ul>
    </details>
  );
}
