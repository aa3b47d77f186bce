import { join } from 'node:path';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { Message } from './fake-driver.ts';

const ROOT = protobuf.loadSync(join(import.meta.dirname, '../../proto/echelon/rayworker/v1/rayworker.proto'));
ROOT.resolveAll();
const SERVICE = ROOT.lookupService('echelon.rayworker.v1.RayWorker');
const OPTIONS = { longs: Number, bytes: Buffer, enums: Number };

/** What answers each call; a refusal is thrown, see {@link refusal}. */
export interface RayWorkerCalls {
  unary: Record<string, (request: Message) => Promise<Message> | Message>;
  attach(call: ServerWritableStream<Message, Message>): Promise<void>;
}

/** An error that the caller gets with that status; RESOURCE_EXHAUSTED as a ray-worker without disk says it. */
export function refusal(code: status, details: string) {
  const metadata = new Metadata();
  if (code === status.RESOURCE_EXHAUSTED) metadata.set('echelon-fault', 'exhausted');
  return { code, details, metadata };
}

/** Serves `calls` as the ray-worker's gRPC service on `port` of 127.0.0.1 (0: a free one) to those who have `token`. */
export async function serveRayWorker(
  calls: RayWorkerCalls,
  { port, token }: { port: number; token: string },
): Promise<{ server: Server; port: number }> {
  const server = new Server({ 'grpc.max_receive_message_length': 5 * 1024 * 1024 });
  server.addService(definition(), implementation(calls, token));
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error ? reject(error) : resolve(at),
    ),
  );
  return { server, port: bound };
}

function definition(): ServiceDefinition {
  const methods = SERVICE.methodsArray.map((method) => {
    const [request, response] = [method.resolvedRequestType!, method.resolvedResponseType!];
    const entry = {
      path: `/${SERVICE.fullName.slice(1)}/${method.name}`,
      requestStream: false,
      responseStream: method.responseStream === true,
      requestSerialize: toBytes(request),
      requestDeserialize: fromBytes(request),
      responseSerialize: toBytes(response),
      responseDeserialize: fromBytes(response),
    };
    return [method.name, entry];
  });
  return Object.fromEntries(methods);
}

function toBytes(type: protobuf.Type): (message: Message) => Buffer {
  return (message) => Buffer.from(type.encode(type.fromObject(message)).finish());
}

function fromBytes(type: protobuf.Type): (bytes: Buffer) => Message {
  return (bytes) => type.toObject(type.decode(bytes), OPTIONS);
}

function implementation({ unary, attach }: RayWorkerCalls, token: string): UntypedServiceImplementation {
  const mayCome = ({ metadata }: { metadata: Metadata }) =>
    metadata.get('authorization')[0] === `Bearer ${token}`;
  const answering =
    (work: RayWorkerCalls['unary'][string]): handleUnaryCall<Message, Message> =>
    async (call, callback) => {
      try {
        if (!mayCome(call)) throw refusal(status.UNAUTHENTICATED, 'no valid token');
        callback(null, await work(call.request));
      } catch (error) {
        callback(error as ReturnType<typeof refusal>);
      }
    };
  const streaming: handleServerStreamingCall<Message, Message> = async (call) => {
    try {
      if (!mayCome(call)) throw refusal(status.UNAUTHENTICATED, 'no valid token');
      await attach(call);
    } catch (error) {
      call.emit('error', error);
    }
  };
  const entries = Object.entries(unary).map(([name, work]) => [name, answering(work)]);
  return { ...Object.fromEntries(entries), Attach: streaming };
}
