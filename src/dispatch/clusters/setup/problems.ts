import { RayError, RayPythonError } from 'ray-client-ts/errors';
import type { CommandProblem } from '../../../schemas/clusters.ts';

/** The set-up cannot continue, and a retry would not help. */
export class SetupError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SetupError';
    this.remedy = remedy;
  }
}

const MISSING_MODULE = /No module named '(grpc|google|numpy|echelon_rayworker)[\w.]*'/;
const PACKAGES: Record<string, string> = { grpc: 'grpcio', google: 'protobuf', numpy: 'numpy' };

/** A failure and its remedy, for the operator who adds a cluster. */
export function toCommandProblem(error: unknown, address: string): CommandProblem {
  const { message, remedy } = toSetupError(error, address);
  return { severity: 'error', message, remedy };
}

/** Words every failure of the set-up. */
export function toSetupError(error: unknown, address: string): SetupError {
  if (error instanceof SetupError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RayPythonError) return fromPython(error);
  if (!(error instanceof RayError)) return new SetupError(message, 'See the log of the dispatcher.', error);
  switch (error.code) {
    case 'unreachable':
      return new SetupError(
        `${address} cannot be reached from here: ${message}`,
        "Check that it is the port of Ray's client server (10001 by default, `ray start --ray-client-server-port`), that the port is open to the dispatchers, and whether Ray uses TLS there.",
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
        'See the logs of the head (ray_client_server_*.err, runtime_env_setup-*.log).',
        error,
      );
    case 'timeout':
      return new SetupError(
        message,
        'The cluster is reachable but slow or stuck. Check its load and try again.',
        error,
      );
    default:
      return new SetupError(message, 'Try again. The logs of the head have the details.', error);
  }
}

function fromPython(error: RayPythonError): SetupError {
  const text = `${error.message}\n${error.pythonTraceback}`;
  const missing = MISSING_MODULE.exec(text)?.[1];
  const wanted = missing === undefined ? undefined : PACKAGES[missing];
  if (wanted !== undefined)
    return new SetupError(
      `The Python environment of Ray on the cluster lacks ${wanted}, which the ray-worker needs.`,
      `Install it in Ray's environment, at least on the node of the ray-worker: pip install ${wanted}`,
      error,
    );
  const serves = /the ray-worker does not serve: (.*)/.exec(text)?.[1];
  if (serves !== undefined)
    return new SetupError(
      `The ray-worker was started but cannot serve: ${serves}`,
      'If the port is taken, use --port with another one. If the directory is not writable, use --shared-root with another one.',
      error,
    );
  const first = error.message.split('\n', 1)[0]!;
  return new SetupError(`The ray-worker could not be started: ${first}`, 'See the logs of Ray.', error);
}
