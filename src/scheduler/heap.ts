/** A binary heap: the item that comes before all others is on top. */
export interface Heap<T> {
  push(item: T): void;
  pop(): T | undefined;
  peek(): T | undefined;
}

/** See {@link Heap}. `before` must not change for two items of the heap while both are in it. */
export function createHeap<T>(before: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];

  function up(start: number): void {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!before(items[at]!, items[parent]!)) return;
      [items[at], items[parent]] = [items[parent]!, items[at]!];
      at = parent;
    }
  }

  function down(start: number): void {
    for (let at = start; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let first = at;
      if (left < items.length && before(items[left]!, items[first]!)) first = left;
      if (right < items.length && before(items[right]!, items[first]!)) first = right;
      if (first === at) return;
      [items[at], items[first]] = [items[first]!, items[at]!];
      at = first;
    }
  }

  return {
    peek: () => items[0],
    push(item) {
      items.push(item);
      up(items.length - 1);
    },
    pop() {
      const first = items[0];
      const last = items.pop();
      if (last !== undefined && items.length > 0) {
        items[0] = last;
        down(0);
      }
      return first;
    },
  };
}
