import type { Redis } from 'ioredis';

/**
 * `queue`: the queue or the capacity changed. `cancel`: an experiment became cancelling. `batch`: a batch is pending.
 * `command`: a command is open. `sweep`: a sweep has children to create or to cancel. `lease`: leases were released.
 */
export type WakeTopic = (typeof WAKE_TOPICS)[number];

/** Every topic of this version. */
export const WAKE_TOPICS = ['queue', 'lease', 'cancel', 'batch', 'command', 'sweep'] as const;

/** Called with a message of the channel, or with undefined if messages may have been missed. */
type WakeListener = (message: string | undefined) => void;

/**
 * Listens to channels over one connection for all listeners of the process. A message is a hint: after each connect, every
 * listener is called with undefined, because it may have missed messages.
 */
export interface WakeHub {
  /** `ready` resolves when the server has accepted the subscription, however long that takes. */
  listen(channel: string, listener: WakeListener): { ready: Promise<void>; stop(): void };
  readonly closed: boolean;
  /** Ends the connection and calls every listener once more, so that it finds the hub closed. */
  close(): void;
}

interface Channel {
  listeners: Set<WakeListener>;
  ready: Promise<void>;
}

/**
 * A hub that connects with the options of `redis` at the first listener. With a `socketTimeout`, it notices within twice
 * that time that its connection is half open.
 */
export function createWakeHub(redis: Redis): WakeHub {
  const channels = new Map<string, Channel>();
  let subscriber: Redis | undefined;
  let asking: NodeJS.Timeout | undefined;
  let closed = false;

  function open(name: string): Channel {
    subscriber ??= connect(redis, channels);
    asking ??= askRegularly(subscriber);
    const channel: Channel = { listeners: new Set(), ready: Promise.resolve() };
    channel.ready = subscriber.subscribe(name).then(
      () => notify(channel, undefined),
      () => {}, // a subscription fails only when the hub is closed
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
      clearInterval(asking);
      subscriber?.disconnect();
      for (const channel of channels.values()) notify(channel, undefined);
      channels.clear();
    },
  };
}

function notify(channel: Channel | undefined, message: string | undefined): void {
  for (const listener of [...(channel?.listeners ?? [])]) listener(message);
}

/** Only a command without an answer shows that a connection is half open, and a subscriber sends none by itself. */
function askRegularly(connection: Redis): NodeJS.Timeout | undefined {
  const { socketTimeout } = connection.options;
  if (socketTimeout === undefined) return undefined;
  return setInterval(() => {
    if (connection.status === 'ready') connection.ping().catch(() => {}); // the connection is replaced
  }, socketTimeout).unref();
}

function connect(redis: Redis, channels: ReadonlyMap<string, Channel>): Redis {
  const connection = redis.duplicate({
    lazyConnect: false,
    commandTimeout: undefined, // wait for the server without a limit
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
    retryStrategy: (times: number) => Math.min(times * 50, 1000),
  });
  connection.on('error', () => {}); // it reconnects, and the caller's own connection reports
  connection.on('message', (name: string, message: string) => notify(channels.get(name), message));
  connection.on('ready', () => {
    const all = [...channels];
    if (all.length === 0) return;
    // ioredis subscribes again by itself, but does not report when that is done. This call follows it directly.
    connection.subscribe(...all.map(([name]) => name)).then(
      () => {
        for (const [, channel] of all) notify(channel, undefined);
      },
      () => {}, // the connection was lost again, and the next `ready` repeats this
    );
  });
  return connection;
}
