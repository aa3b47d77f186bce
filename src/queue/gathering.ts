/** Sends items one by one asked for, many together: see {@link gathering}. */
export interface Gathering<T> {
  /** Settles as the call that takes this item along does. */
  add(item: T): Promise<void>;
  /** Settled once nothing is on its way; never throws. */
  idle(): Promise<void>;
}

/**
 * While one call of `send` is on its way, items gather for the next one: under load there are few and large calls, else
 * each item goes at once. One call carries `most` items at most.
 */
export function gathering<T>(send: (items: T[]) => Promise<void>, most: number): Gathering<T> {
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
      if (open === undefined || open.items.length === most) open = begin();
      open.items.push(item);
      return open.sent;
    },
    idle: () => last,
  };
}
