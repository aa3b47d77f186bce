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
