import { RayError, RayPythonError } from '../../../ray/errors.ts';
import type { CommandProblem } from '../../../schemas/clusters.ts';

/** The set-up cannot go on, for a reason that trying again does not fix. */
export class SetupError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SetupError';
    this.remedy = remedy;
  }
}

const MISSING_MODULE = /No module named '(grpc|google|numpy|echelon_rayworker)[\w.]*'/;
const WHAT_INSTALLS: Record<string, string> = { grpc: 'grpcio', google: 'protobuf', numpy: 'numpy' };

/** What a failure means to the person who adds a cluster, and what to do about it. */
export function toCommandProblem(error: unknown, address: string): CommandProblem {
  const { message, remedy } = toSetupError(error, address);
  return { severity: 'error', message, remedy };
}

/** The one place where a failure of the set-up becomes a sentence. */
export function toSetupError(error: unknown, address: string): SetupError {
  if (error instanceof SetupError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RayPythonError) return fromPython(error);
  if (!(error instanceof RayError))
    return new SetupError(message, 'The log of the dispatcher says more.', error);
  switch (error.code) {
    case 'unreachable':
      return new SetupError(
        `${address} cannot be reached from here: ${message}`,
        "Is it the port of Ray's client server (10001 by default, `ray start --ray-client-server-port`), is that port open to the dispatchers, and does Ray use TLS there?",
        error,
      );
    case 'unauthenticated':
      return new SetupError(
        `${address} does not accept the token: ${message}`,
        "Pass the cluster's own token: the value of RAY_AUTH_TOKEN or the content of ~/.ray/auth_token there.",
        error,
      );
    case 'version':
      return new SetupError(message, 'Use a Ray of the tested range on the cluster.', error);
    case 'session-refused':
      return new SetupError(
        `Ray did not start a session: ${message}`,
        'The logs of the head say more (ray_client_server_*.err, runtime_env_setup-*.log).',
        error,
      );
    case 'timeout':
      return new SetupError(
        message,
        'The cluster is there but slow or stuck; look at its load and try again.',
        error,
      );
    default:
      return new SetupError(message, 'Try again; the logs of the head say more.', error);
  }
}

function fromPython(error: RayPythonError): SetupError {
  const text = `${error.message}\n${error.pythonTraceback}`;
  const missing = MISSING_MODULE.exec(text)?.[1];
  const wanted = missing === undefined ? undefined : WHAT_INSTALLS[missing];
  if (wanted !== undefined)
    return new SetupError(
      `The Python environment of Ray on the cluster lacks ${wanted}, which the ray-worker needs.`,
      `Install it where Ray runs, on the node of the ray-worker at least: pip install ${wanted}`,
      error,
    );
  const serves = /the ray-worker does not serve: (.*)/.exec(text)?.[1];
  if (serves !== undefined)
    return new SetupError(
      `The ray-worker was started but cannot serve: ${serves}`,
      'A port that is taken: choose another with --port. A directory that cannot be written: choose another with --shared-root.',
      error,
    );
  const first = error.message.split('\n', 1)[0]!;
  return new SetupError(`The ray-worker could not be started: ${first}`, 'The logs of Ray say more.', error);
}
