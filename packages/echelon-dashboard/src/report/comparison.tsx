import type { ComparisonFile } from 'echelon-client/comparison-file';
import { comparisonCsv } from 'echelon-client/csv';
import { saveText } from '../app/save.ts';
import { command } from '../models/commands.ts';
import { inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { State } from '../parts/marks.tsx';
import { Result } from '../screens/comparison/result.tsx';

/** A comparison in one file, with every game. */
export function ComparisonReport({ file: { comparison, games, series } }: { file: ComparisonFile }) {
  const csv = () => saveText(`${comparison.id}-games.csv`, 'text/csv', `${comparisonCsv(games)}\n`);
  return (
    <main id="main">
      <Head
        title={inert(comparison.plan.name)}
        command={command(`comparison get ${comparison.id}`)}
        actions={
          <button type="button" onClick={csv}>
            Save the games as CSV
          </button>
        }
      >
        <State state={comparison.state} />
      </Head>
      <Result {...{ comparison, series }} isLinked={false} />
      <p class="muted small">This file holds everything that it shows. It loads and sends nothing.</p>
    </main>
  );
}
