/** A page of a list of the API: `next` is the cursor of the page after it, null on the last page. */
interface Page<T> {
  items: T[];
  next: string | null;
}

/** Most entries that the API puts on a page of most lists. */
export const MAX_PAGE = 200;

/**
 * The first `limit` entries of a list (all of them if omitted), from as many pages as that takes. `next` is null if the list
 * has no more entries.
 */
export async function readPages<T>(
  read: (page: { cursor: string | undefined; limit: number }) => Promise<Page<T>>,
  { limit = Number.POSITIVE_INFINITY, maxPage = MAX_PAGE }: { limit?: number; maxPage?: number } = {},
): Promise<Page<T>> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await read({ cursor, limit: Math.min(maxPage, limit - items.length) });
    items.push(...page.items);
    if (page.next === null || items.length >= limit) return { items, next: page.next };
    cursor = page.next;
  }
}
