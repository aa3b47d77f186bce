import { type Logger, pino } from 'pino';

/** Keys whose values are never written, at any depth that our own objects have. */
const SECRET_KEYS = ['token', 'authorization', 'cookie', 'password', 'secret', 'ca'];

/** See {@link createLog}. */
export type Log = Logger;

/**
 * A structured log, one JSON object a line, on standard error or at the end of `file`; values under secret names are
 * masked, and each line is passed through `redact`.
 */
export function createLog({
  level,
  name,
  file,
  redact = (line) => line,
}: {
  level: string;
  name: string;
  file?: string | undefined;
  /** Takes secrets out of a finished line; it stays JSON. */
  redact?: (line: string) => string;
}): Log {
  const paths = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  const destination = pino.destination({ dest: file ?? 2, sync: true });
  return pino(
    {
      level,
      name,
      base: { name },
      redact: { paths, censor: '[secret]' },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    { write: (line: string) => void destination.write(redact(line)) },
  );
}
