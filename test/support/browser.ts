import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A page of a real browser, driven through its DevTools protocol. */
export interface Page {
  /** Loads a URL and waits until it is there; the HTTP status of its document. */
  open(url: string): Promise<number>;
  /** Does what leads to another document, and waits until it is there; its HTTP status. */
  follow(expression: string): Promise<number>;
  /** The value of an expression, as JSON has it. */
  value<T>(expression: string): Promise<T>;
}

/** Debian's Chromium, or another one under a usual name; undefined: there is none. */
export function findChromium(): string | undefined {
  const found = (name: string) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0;
  return ['chromium', 'chromium-browser', 'google-chrome'].find(found);
}

/** Why a test that needs a browser cannot run, or false if it can. */
export const NO_BROWSER = findChromium() === undefined && 'no Chromium; on Debian: apt-get install chromium';

interface Answer {
  id?: number;
  method?: string;
  params?: { type?: string; response?: { status: number } };
  result?: { result?: { value?: unknown }; exceptionDetails?: object };
  error?: { message: string };
}

/** A page in a browser of its own, with an empty profile; both are gone when `resources` are. */
export async function openPage(resources: AsyncDisposableStack): Promise<Page> {
  const profile = await mkdtemp(join(tmpdir(), 'echelon-browser-'));
  resources.defer(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  const switches = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-dev-shm-usage',
  ];
  const child = spawn(
    findChromium()!,
    [...switches, '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(child, 'exit');
  resources.defer(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [, host] = await said(child.stderr, /DevTools listening on ws:\/\/([^/]+)\//);
  const pages = (await (await fetch(`http://${host}/json/list`)).json()) as Record<string, string>[];
  const socket = new WebSocket(pages.find(({ type }) => type === 'page')!.webSocketDebuggerUrl!);
  await once(socket, 'open');
  resources.defer(() => socket.close());
  return drive(socket);
}

async function said(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<RegExpExecArray> {
  let text = '';
  stream.setEncoding('utf8');
  for await (const chunk of stream) {
    text += chunk;
    const match = pattern.exec(text);
    if (match) {
      stream.resume();
      return match;
    }
  }
  throw new Error(`the browser has ended: ${text}`);
}

async function drive(socket: WebSocket): Promise<Page> {
  const waiting = new Map<number, PromiseWithResolvers<NonNullable<Answer['result']>>>();
  let [last, status] = [0, 0];
  let loaded = Promise.withResolvers<void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data)) as Answer;
    if (id !== undefined) {
      if (error) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result ?? {});
      waiting.delete(id);
    }
    if (method === 'Network.responseReceived' && params?.type === 'Document')
      status = params.response!.status;
    if (method === 'Page.loadEventFired') loaded.resolve();
  });
  const send = (method: string, params: object = {}) => {
    last += 1;
    const answer = Promise.withResolvers<NonNullable<Answer['result']>>();
    waiting.set(last, answer);
    socket.send(JSON.stringify({ id: last, method, params }));
    return answer.promise;
  };
  const evaluate = (expression: string) => send('Runtime.evaluate', { expression, returnByValue: true });
  const next = async (act: () => Promise<unknown>) => {
    loaded = Promise.withResolvers<void>();
    await act();
    await loaded.promise;
    return status;
  };
  await Promise.all([send('Page.enable'), send('Network.enable')]);
  return {
    open: (url) => next(() => send('Page.navigate', { url })),
    follow: (expression) => next(() => evaluate(expression)),
    async value<T>(expression: string): Promise<T> {
      const { result, exceptionDetails } = await evaluate(expression);
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
      return result?.value as T;
    },
  };
}
