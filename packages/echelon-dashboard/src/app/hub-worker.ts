import { type Asked, createHub, type Told } from './hub.ts';

/** The shared worker of all tabs: each event stream has one connection, whatever the number of tabs. */
const hub = createHub();
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void };

scope.onconnect = ({ ports }) => {
  const port = ports[0]!;
  const tell = (told: Told) => port.postMessage(told);
  const opened = new Map<string, Asked>();
  port.onmessage = ({ data }: MessageEvent<Asked | { kind: 'bye' }>) => {
    if (data.kind === 'bye') for (const asked of opened.values()) hub.close(asked, tell);
    else if (data.kind === 'open') {
      opened.set(data.path, data);
      hub.open(data, tell);
    } else {
      opened.delete(data.path);
      hub.close(data, tell);
    }
  };
};
