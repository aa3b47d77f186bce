/** Sends items that are added one by one in batches; see {@link gathering}. */
interface Gathering<T> {
  /** Settles like the call that sends this item. */
  add(item: T): Promise<void>;
  /** Resolves when no call is under way; never rejects. */
  idle(): Promise<void>;
}

/**
 * While a call of `send` is under way, items gather for the next call: under load there are few large calls, otherwise
 * every item is sent at once. A call has at most `max` items.
 */
export function gathering<T>(send: (items: T[]) => Promise<void>, max: number): Gathering<T> {
  let open: { items: T[]; sent: Promise<void> } | undefined;
  let last: Promise<void> = Promise.resolve();

  function begin(): { items: T[]; sent: Promise<void> } {
    const batch = { items: [] as T[], sent: Promise.resolve() };
    batch.sent = last.then(() => {
      if (open === batch) open = undefined;
      return send(batch.items);
    });
    last = batch.sent.catch(() => {});
    return batch;
  }

  return {
    add(item) {
      if (open === undefined || open.items.length === max) open = begin();
      open.items.push(item);
      return open.sent;
    },
    idle: () => last,
  };
}
