import { Redis } from 'ioredis';
import { createKeys } from '../../../src/store/redis/keys.ts';

/** Attempts whose events are looked at. */
export const PROBED = 20;

/** Notes for some of the attempts how old each of their events is when Redis announces it. */
export async function startProbe(port: number, ids: readonly string[]) {
  const [listener, reader] = [new Redis(port), new Redis(port)];
  const keys = createKeys('echelon');
  const every = Math.max(1, Math.floor(ids.length / PROBED));
  const streams = new Map(
    ids.filter((_id, at) => at % every === 0).map((id) => [keys.changed(id), keys.events(id)]),
  );
  const lags: number[] = [];
  const note = async (stream: string) => {
    const at = Date.now();
    const [entry] = await reader.xrevrange(stream, '+', '-', 'COUNT', 1);
    const fields = entry?.[1] ?? [];
    lags.push(at - Number(fields[fields.indexOf('a') + 1]));
  };
  listener.on('message', (channel: string) => {
    note(streams.get(channel)!).catch(() => {}); // the probe has ended
  });
  await listener.subscribe(...streams.keys());
  return {
    lags,
    async [Symbol.asyncDispose]() {
      listener.disconnect();
      await reader.quit();
    },
  };
}
