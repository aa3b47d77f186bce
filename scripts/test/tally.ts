/** How often the tests of some rounds failed. */
export interface Tally {
  /** Counts a round's failures: for each the line with its name, and, indented, why. */
  add(failed: readonly string[], isLoaded: boolean): void;
  /** A line for each test that failed, with its rate; the most frequent first. */
  lines(): string[];
}

/** Of rounds some of which ran beside a load. */
export function createTally(): Tally {
  const rounds = { quiet: 0, loaded: 0 };
  const failures = new Map<string, typeof rounds>();
  return {
    add(failed, isLoaded) {
      const kind = isLoaded ? 'loaded' : 'quiet';
      rounds[kind] += 1;
      for (const name of new Set(failed.filter((line) => !/^\s/.test(line)).map(nameOf))) {
        const counts = failures.get(name) ?? { quiet: 0, loaded: 0 };
        counts[kind] += 1;
        failures.set(name, counts);
      }
    },
    lines() {
      const all = rounds.quiet + rounds.loaded;
      return [...failures]
        .map(([name, { quiet, loaded }]) => ({ name, quiet, loaded, count: quiet + loaded }))
        .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name))
        .map(({ name, quiet, loaded, count }) => {
          const kind = count === all ? 'FAILS' : 'FLAKY';
          const beside = rounds.loaded > 0 ? `, ${loaded} of ${rounds.loaded} beside a load` : '';
          return `${kind} ${quiet} of ${rounds.quiet} quiet rounds${beside}: ${name}`;
        });
    },
  };
}

/** pytest names the reason behind the test. */
function nameOf(line: string): string {
  return /^(FAILED|ERROR) /.test(line) ? line.split(' - ', 1)[0]! : line;
}
