import { place } from '../app/router.ts';

/** A part of a screen; `command` shows the same in a terminal. */
export type Tab = readonly [name: string, label: string, command: string];

/** The tab in the address, else the one named `first`. Default: the first. */
export const chosenOf = (tabs: readonly Tab[], first = tabs[0]![0]): Tab =>
  tabs.find(([name]) => name === (place.value.query.get('tab') ?? first)) ?? tabs[0]!;

interface TabsProps {
  label: string;
  path: string;
  tabs: readonly Tab[];
  chosen: Tab;
}

/** Links to the parts of a screen. */
export function Tabs({ label, path, tabs, chosen }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a
          key={tab[0]}
          href={tab === tabs[0] && chosen === tab ? path : `${path}?tab=${tab[0]}`}
          aria-current={tab === chosen ? 'page' : undefined}
        >
          {tab[1]}
        </a>
      ))}
    </nav>
  );
}
