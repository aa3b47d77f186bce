import type { Redis } from 'ioredis';

/**
 * `line`: the line or the capacity changed. `cancel`: an experiment became cancelling. `batch`: a batch is pending.
 * `command`: a command waits. `sweep`: a sweep has children to expand or to cancel. `lease`: leases were let go.
 */
export type WakeTopic = (typeof WAKE_TOPICS)[number];

/** Every topic of this version. */
export const WAKE_TOPICS = ['queue', 'lease', 'cancel', 'batch', 'command', 'sweep'] as const;

/** Called with a message of the channel; with undefined where messages may have been missed. */
export type WakeListener = (message: string | undefined) => void;

/**
 * Listens to channels over one connection for the whole process, however many listeners there are. A message is a
 * hint: after a connection came (again) to be, every listener is called with undefined, since it may have missed
 * some.
 */
export interface WakeHub {
  /** `ready` resolves when the server has taken the subscription; it waits for as long as there is no server. */
  listen(channel: string, listener: WakeListener): { ready: Promise<void>; stop(): void };
  readonly closed: boolean;
  /** Ends the connection; every listener is called once more, to find the hub closed. */
  close(): void;
}

interface Channel {
  listeners: Set<WakeListener>;
  ready: Promise<void>;
}

/** A hub that connects, as `redis` does, when the first listener comes. */
export function createWakeHub(redis: Redis): WakeHub {
  const channels = new Map<string, Channel>();
  let subscriber: Redis | undefined;
  let closed = false;

  function open(name: string): Channel {
    subscriber ??= connect(redis, channels);
    const channel: Channel = { listeners: new Set(), ready: Promise.resolve() };
    channel.ready = subscriber.subscribe(name).then(
      () => tell(channel, undefined),
      () => {}, // only the end of the hub gives up a subscription
    );
    channels.set(name, channel);
    return channel;
  }

  return {
    get closed() {
      return closed;
    },
    listen(name, listener) {
      if (closed) return { ready: Promise.resolve(), stop() {} };
      const channel = channels.get(name) ?? open(name);
      channel.listeners.add(listener);
      return {
        ready: channel.ready,
        stop() {
          if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return;
          if (channels.get(name) !== channel) return;
          channels.delete(name);
          subscriber?.unsubscribe(name).catch(() => {});
        },
      };
    },
    close() {
      closed = true;
      subscriber?.disconnect();
      for (const channel of channels.values()) tell(channel, undefined);
      channels.clear();
    },
  };
}

function tell(channel: Channel | undefined, message: string | undefined): void {
  for (const listener of [...(channel?.listeners ?? [])]) listener(message);
}

function connect(redis: Redis, channels: ReadonlyMap<string, Channel>): Redis {
  const connection = redis.duplicate({
    lazyConnect: false,
    commandTimeout: undefined, // it waits for the server, for as long as that takes
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
    retryStrategy: (times: number) => Math.min(times * 50, 1000),
  });
  connection.on('error', () => {}); // it reconnects, and the caller's own connection reports
  connection.on('message', (name: string, message: string) => tell(channels.get(name), message));
  connection.on('ready', () => {
    const all = [...channels];
    if (all.length === 0) return;
    // ioredis subscribes again by itself, but does not say when that is done: our own call comes right behind.
    connection.subscribe(...all.map(([name]) => name)).then(
      () => {
        for (const [, channel] of all) tell(channel, undefined);
      },
      () => {}, // the connection was lost again, and the next `ready` repeats this
    );
  });
  return connection;
}
