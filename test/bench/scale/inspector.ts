import { once } from 'node:events';

/** Objects of one constructor in a heap: how many, and their own bytes without what they refer to. */
export interface Objects {
  count: number;
  bytes: number;
}

/** A process's inspector, over which its garbage is collected and its heap is read. */
export interface Inspector extends Disposable {
  /** Collects all garbage; gives the bytes that are in use afterwards, and those of buffers outside of the heap. */
  usedAfterCollection(): Promise<{ heap: number; buffers: number }>;
  /** What the heap has, by the name of the constructor or the kind of value. */
  objects(): Promise<Map<string, Objects>>;
}

/** Connects to a process that was started with `--inspect=127.0.0.1:0`, from what it has logged. */
export async function inspect(log: string): Promise<Inspector> {
  const url = /Debugger listening on (ws:\S+)/.exec(log)?.[1];
  if (url === undefined) throw new Error('the process was not started with --inspect=127.0.0.1:0');
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const answers = new Map<number, PromiseWithResolvers<Record<string, number>>>();
  let chunks: string[] = [];
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error, method, params } = JSON.parse(data);
    if (method === 'HeapProfiler.addHeapSnapshotChunk') chunks.push(params.chunk);
    else if (error !== undefined) answers.get(id)?.reject(new Error(error.message));
    else answers.get(id)?.resolve(result);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of answers.values())
      reject(new Error('the inspected process has closed the connection'));
  });

  async function ask(method: string, params: object = {}): Promise<Record<string, number>> {
    lastId += 1;
    const id = lastId;
    const answer = Promise.withResolvers<Record<string, number>>();
    answers.set(id, answer);
    socket.send(JSON.stringify({ id, method, params }));
    return answer.promise.finally(() => answers.delete(id));
  }

  return {
    async usedAfterCollection() {
      await ask('HeapProfiler.collectGarbage');
      const { usedSize, backingStorageSize } = await ask('Runtime.getHeapUsage');
      return { heap: usedSize!, buffers: backingStorageSize! };
    },
    async objects() {
      chunks = [];
      await ask('HeapProfiler.takeHeapSnapshot', { captureNumericValue: false });
      return byConstructor(JSON.parse(chunks.join('')));
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

/** A heap snapshot as V8 writes it: the fields of all nodes, one after another. */
interface HeapSnapshot {
  snapshot: { meta: { node_fields: readonly string[]; node_types: readonly [readonly string[]] } };
  nodes: readonly number[];
  strings: readonly string[];
}

function byConstructor({ snapshot, nodes, strings }: HeapSnapshot): Map<string, Objects> {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field)) as [
    number,
    number,
    number,
  ];
  const found = new Map<string, Objects>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = types[0][nodes[at + type]!]!;
    const key = kind === 'object' || kind === 'native' ? strings[nodes[at + name]!]! : `(${kind})`;
    const objects = found.get(key) ?? { count: 0, bytes: 0 };
    objects.count += 1;
    objects.bytes += nodes[at + size]!;
    found.set(key, objects);
  }
  return found;
}
