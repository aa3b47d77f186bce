/** A page of a list of the API: `next` is the cursor of the page after it, null on the last page. */
interface Page {
  items: unknown[];
  next: string | null;
}

/** Most entries that the API puts on a page of most lists. */
export const MAX_PAGE = 200;

/**
 * The first `limit` entries of a list (all of them if omitted), from as many pages as that takes, with the other fields of the
 * last page. `next` is null if the list has no more entries.
 */
export async function readPages<P extends Page>(
  read: (page: { cursor: string | undefined; limit: number }) => Promise<P>,
  {
    limit = Number.POSITIVE_INFINITY,
    maxPage = MAX_PAGE,
  }: { limit?: number | undefined; maxPage?: number } = {},
): Promise<P> {
  const items: P['items'] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await read({ cursor, limit: Math.min(maxPage, limit - items.length) });
    items.push(...page.items);
    if (page.next === null || items.length >= limit) return { ...page, items };
    cursor = page.next;
  }
}
