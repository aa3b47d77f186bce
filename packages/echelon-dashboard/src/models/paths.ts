/** The parameters of a path that fits the pattern (`/experiments/:id`); undefined if it does not. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern, path].map((one) => one.split('/').filter((part) => part !== ''));
  if (wanted!.length !== given!.length) return undefined;
  const found: Record<string, string> = {};
  for (const [at, part] of wanted!.entries()) {
    if (part.startsWith(':')) found[part.slice(1)] = decode(given![at]!);
    else if (part !== given![at]) return undefined;
  }
  return found;
}

/** The path with a query of these values; empty and undefined ones are omitted, lists are repeated. */
export function withQuery(
  path: string,
  values: Record<string, string | readonly string[] | undefined>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of [value].flat()) if (one !== undefined && one !== '') query.append(name, one as string);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The batch that a screen shows. */
export interface BatchPath {
  id: string;
  attempt: number;
  batch: number;
}

/** The batch in the parameters of a path. */
export function batchPathOf(params: Record<string, string>): BatchPath {
  return { id: params.id!, attempt: Number(params.attempt), batch: Number(params.batch) };
}

const batch = ({ id, attempt, batch }: BatchPath) => `/experiments/${id}/batches/${attempt}/${batch}`;

/** Links to the screens above those of a batch. */
export const aboveOf = (path: BatchPath): [href: string, label: string][] => [
  ['/experiments', 'Experiments'],
  [`/experiments/${path.id}`, path.id],
  [batchHref(path), `Batch ${path.batch}`],
];

/** The screen of a batch, with a row explained if one is given. */
export const batchHref = (path: BatchPath, row?: number): string =>
  withQuery(batch(path), { row: row === undefined ? undefined : String(row) });

/** The screen of a trajectory, at a step if one is given. */
export const trajectoryHref = (path: BatchPath, name: string, step?: number): string =>
  withQuery(`${batch(path)}/trajectory`, { name, step: step === undefined ? undefined : String(step) });

/** The screen of the rows with the same state as this row. */
export const sameStateHref = (path: BatchPath, row: number): string =>
  withQuery(`${batch(path)}/same-state`, { row: String(row) });
