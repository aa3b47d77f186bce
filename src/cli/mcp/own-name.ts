import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Whether a Host header names this machine: an address, `localhost`, the machine's name or the name that the server has to
 * listen at. Another name may be that of a foreign page, which points it here (DNS rebinding).
 */
export function isOwnName(header: string | undefined, listensAt: string): boolean {
  const name = (header ?? '')
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || [listensAt, hostname(), 'localhost'].some((own) => own.toLowerCase() === name);
}

/** Whether the page that sends a request is of this machine. Programs send no Origin. */
export function isOwnOrigin(header: string | undefined, listensAt: string): boolean {
  if (header === undefined) return true;
  return URL.canParse(header) && isLoopbackOrSame(new URL(header).hostname, listensAt);
}

function isLoopbackOrSame(name: string, listensAt: string): boolean {
  const plain = name.replace(/^\[(.*)\]$/, '$1');
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(plain) || plain === listensAt.toLowerCase();
}
