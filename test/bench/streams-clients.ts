// Clients of the bench of streams, in a process of their own: they read, count, and come back when they are cut.
import { connect, type Socket } from 'node:net';

/** What the parent asks for; each message is answered by one. */
export type ClientsAsk =
  /** Opens a client for each of these. `reads` false: it never takes a byte. */
  | { ask: 'open'; port: number; clients: { path: string; token: string }[]; reads: boolean }
  /** Answers once every client has had so many entries, with what was seen since the last time. */
  | { ask: 'seen'; entries: number }
  /** Answers once every client that was cut is connected again. */
  | { ask: 'back' }
  /** Closes them all. */
  | { ask: 'close' };

/** What the clients have seen since the last time. */
export interface ClientsFigures {
  /** From the writing of an entry to its coming in, ms: one for each entry and client. */
  latencies: number[];
  /** Of each entry, when the last client had it. */
  slowest: number[];
  /** Entries that came twice, or behind a gap. */
  wrong: number;
  /** Answers other than 200, by status. */
  refused: Record<string, number>;
  /** Clients that were cut. */
  cut: number;
}

interface Client {
  path: string;
  token: string;
  socket: Socket | undefined;
  isOpen: boolean;
  last: string;
  number: number;
  rest: string;
}

const ENTRY = /id: (\S+)\n(?:event: start\n|event: \S+\ndata: [^\n]*?#(\d+)@([\d.]+)#)/g;
const now = () => performance.timeOrigin + performance.now();
const clients: Client[] = [];
let port = 0;
let reads = true;
let closing = false;
let seen: ClientsFigures = nothing();
let slowest = new Map<number, number>();
let check = () => {};

function nothing(): ClientsFigures {
  return { latencies: [], slowest: [], wrong: 0, refused: {}, cut: 0 };
}

function open(client: Client): void {
  const socket = connect(port, '127.0.0.1');
  client.socket = socket;
  client.rest = '';
  socket.on('error', () => {});
  socket.on('connect', () => {
    const place = client.last ? `last-event-id: ${client.last}\r\n` : '';
    socket.write(
      `GET ${client.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${client.token}\r\n${place}\r\n`,
    );
    if (reads) return;
    socket.pause();
    client.isOpen = true;
    check();
  });
  if (reads) socket.on('data', (data) => take(client, data.toString()));
  socket.on('close', () => {
    if (client.isOpen) seen.cut += 1;
    client.isOpen = false;
    if (!closing && reads) setTimeout(() => open(client), 50);
    check();
  });
}

function take(client: Client, text: string): void {
  client.rest += text;
  if (!client.isOpen) {
    const status = /^HTTP\/1\.1 (\d+).*?\r\n\r\n/s.exec(client.rest)?.[1];
    if (status === undefined) return;
    if (status !== '200') {
      seen.refused[status] = (seen.refused[status] ?? 0) + 1;
      client.socket?.destroy();
      return;
    }
    client.isOpen = true;
    check();
  }
  const at = now();
  let end = 0;
  for (const { 0: whole, 1: id, 2: number, 3: sent, index } of client.rest.matchAll(ENTRY)) {
    end = index + whole.length;
    client.last = id!;
    if (number === undefined) continue;
    if (Number(number) !== client.number + 1) seen.wrong += 1;
    client.number = Number(number);
    const latency = at - Number(sent);
    seen.latencies.push(latency);
    slowest.set(client.number, Math.max(slowest.get(client.number) ?? 0, latency));
  }
  client.rest = client.rest.slice(end);
  if (end > 0) check();
}

/** Answers as soon as `holds`, which is looked at whenever something has come. */
function answerWhen(holds: () => boolean): void {
  check = () => {
    if (!holds()) return;
    check = () => {};
    seen.slowest = [...slowest.values()];
    process.send!(seen);
    seen = nothing();
    slowest = new Map();
  };
  check();
}

process.on('message', (message: ClientsAsk) => {
  if (message.ask === 'open') {
    ({ port, reads } = message);
    closing = false;
    clients.length = 0;
    for (const { path, token } of message.clients) {
      const client = { path, token, socket: undefined, isOpen: false, last: '', number: 0, rest: '' };
      clients.push(client);
      open(client);
    }
    answerWhen(() => clients.every(({ isOpen }) => isOpen));
  } else if (message.ask === 'seen') {
    answerWhen(() => clients.every(({ number }) => number >= message.entries));
  } else if (message.ask === 'back') {
    answerWhen(() => clients.every(({ isOpen }) => isOpen));
  } else {
    closing = true;
    for (const { socket } of clients) socket?.destroy();
    answerWhen(() => clients.every(({ isOpen }) => !isOpen));
  }
});

// Without its parent no process would end it.
process.on('disconnect', () => process.exit());
