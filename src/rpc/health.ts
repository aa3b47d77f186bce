import { Client, credentials } from '@grpc/grpc-js';
import { grpc } from './gen/ray-worker.js';
import { fromGrpc, RayWorkerError } from './status.ts';

const v1 = grpc.health.v1;
const SERVING = v1.HealthCheckResponse.ServingStatus.SERVING;

/**
 * Asks the health service at `address` (host:port), which needs no token. Returns once it serves. Throws
 * RayWorkerError `unreachable` if no server answers within `timeoutMs`, or if the server is no ray-worker.
 */
export async function checkHealth(
  { address, ca }: { address: string; ca: string | null },
  timeoutMs: number,
): Promise<void> {
  const security = ca === null ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca));
  const client = new Client(address, security, {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 500,
  });
  const what = `health check at ${address}`;
  try {
    const deadline = Date.now() + timeoutMs;
    // A connection that is refused is tried again until then: a server may be on its way.
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(deadline, (error) => (error ? reject(error) : resolve())),
    );
    const status = await new Promise<number>((resolve, reject) =>
      client.makeUnaryRequest(
        '/grpc.health.v1.Health/Check',
        (request: { service: string }) => Buffer.from(v1.HealthCheckRequest.encode(request).finish()),
        (bytes: Buffer) => v1.HealthCheckResponse.decode(bytes).status,
        { service: '' },
        { deadline },
        (error, answer) => (error ? reject(error) : resolve(answer ?? 0)),
      ),
    );
    if (status !== SERVING) throw new RayWorkerError('unreachable', `${what}: it does not serve`);
  } catch (error) {
    throw fromGrpc(error, what);
  } finally {
    client.close();
  }
}
