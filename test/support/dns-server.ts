import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import type { Scope } from './store.ts';

const TYPES = { 4: 1, 6: 28 } as const;

/** Answers questions for addresses at 127.0.0.1:53 from a table of names, with a lifetime of zero. Needs a network of its own. */
export async function dnsServerFor(
  scope: Scope,
  addressesOf: (name: string) => readonly string[],
): Promise<{ asked: string[] }> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const { name, end, type } = questionOf(message);
    asked.push(name);
    const records = addressesOf(name)
      .filter((address) => TYPES[isIP(address) as 4 | 6] === type)
      .map(recordOf);
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, message.subarray(12, end), ...records]), from.port, from.address);
  });
  socket.bind(53, '127.0.0.1');
  await once(socket, 'listening');
  scope.after(() => new Promise<void>((resolve) => socket.close(resolve)));
  return { asked };
}

/** The first question; `end`: the byte after it. */
function questionOf(message: Buffer): { name: string; end: number; type: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5, type: message.readUInt16BE(at + 1) };
}

function recordOf(address: string): Buffer {
  const data =
    isIP(address) === 4 ? Buffer.from(address.split('.').map(Number)) : Buffer.from(hexOf(address), 'hex');
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(TYPES[isIP(address) as 4 | 6], 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** The 32 digits of an IPv6 address without an IPv4 part. */
function hexOf(address: string): string {
  const [left = '', right = ''] = address.split('::');
  const parts = (text: string) => (text === '' ? [] : text.split(':'));
  const zeros = Array<string>(8 - parts(left).length - parts(right).length).fill('0');
  return [...parts(left), ...zeros, ...parts(right)].map((part) => part.padStart(4, '0')).join('');
}
