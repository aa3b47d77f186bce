/** Listens on a port of loopback (0: any free one) and forwards to a Unix socket. */
export function openRelay(wanted: number): Promise<{ port: number; socket: string }>;
/** Inside of the namespace: forwards from the Unix socket to the port of loopback. */
export function answerRelay(relay: { port: number; socket: string }): void;
