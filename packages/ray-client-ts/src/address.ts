/** Port on which Ray serves its client protocol unless told otherwise. */
export const DEFAULT_CLIENT_PORT = 10_001;

/**
 * `host:port` of `ray://host:port`, `ray://host`, `host:port` or `host`; IPv6 hosts in brackets.
 * Throws TypeError for anything else.
 */
export function parseAddress(address: string): string {
  const match = /^(?:ray:\/\/)?(?<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?<port>\d{1,5}))?\/?$/.exec(
    address,
  );
  const host = match?.groups?.host;
  const port = Number(match?.groups?.port ?? DEFAULT_CLIENT_PORT);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new TypeError(`"${address}" is no Ray address; write ray://host:port`);
  }
  return `${host}:${port}`;
}

/** Whether an address names its port. Default: {@link DEFAULT_CLIENT_PORT}. */
export function namesPort(address: string): boolean {
  return /:\d+\/?$/.test(address.replace(/\[[^\]]*\]/, 'host'));
}
