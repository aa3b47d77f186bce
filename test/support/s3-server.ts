import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from './store.ts';

/** What a client of {@link s3ServerFor} must know. */
export const S3_KEYS = {
  accessKey: 'AKIATESTTESTTEST',
  secretKey: 'secret/key+of=the/tests',
  region: 'eu-test-1',
};
export const S3_BUCKET = 'the-bucket';

/** A small S3 server of one test: one bucket, by path; every signature (version 4) is really checked. */
export interface S3Server {
  url: string;
  objects: Map<string, Buffer>;
  /** Requests that were answered, as `METHOD path status`. */
  answered: string[];
  /** The next requests are answered so (a status), cut (0) or left without an answer (-1). */
  failing: number[];
  /** Resolves at the first request (`METHOD path`) for which `when` holds. It and all later ones are left without an answer. */
  holdFrom(when: (request: string) => boolean): Promise<void>;
  /** Ends {@link S3Server.holdFrom}: later requests are answered. */
  resume(): void;
}

/** Lists so many names at once, so that a list of a few has pages. */
const PAGE = 2;

/** Starts an {@link S3Server}; closed when `scope` is over. */
export async function s3ServerFor(scope: Scope): Promise<S3Server> {
  let answers: (request: string) => boolean = () => true;
  const state: S3Server = {
    url: '',
    objects: new Map(),
    answered: [],
    failing: [],
    holdFrom(when) {
      const { promise, resolve } = Promise.withResolvers<void>();
      let holds = false;
      answers = (request) => {
        holds ||= when(request);
        if (holds) resolve();
        return !holds;
      };
      return promise;
    },
    resume() {
      answers = () => true;
    },
  };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    if (!answers(`${request.method} ${request.url}`)) return;
    const failure = state.failing.shift();
    if (failure === -1) return;
    if (failure === 0) return void request.socket.destroy();
    const [status, answer] = failure ? [failure, error('SlowDown')] : reply(state, request, body);
    state.answered.push(`${request.method} ${request.url} ${status}`);
    send(response, status, request.method === 'HEAD' ? Buffer.alloc(0) : Buffer.from(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  scope.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return state;
}

function send(response: ServerResponse, status: number, body: Buffer): void {
  const type = body.subarray(0, 1).toString() === '<' ? 'application/xml' : 'application/octet-stream';
  response.writeHead(status, { 'content-type': type, 'content-length': body.length }).end(body);
}

function reply(state: S3Server, request: IncomingMessage, body: Buffer): [number, string | Buffer] {
  const fault = signatureFault(request, body);
  if (fault) return [403, error('SignatureDoesNotMatch', fault)];
  const url = new URL(request.url!, state.url);
  const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/');
  if (bucket !== S3_BUCKET) return [404, error('NoSuchBucket')];
  const key = rest.join('/');
  switch (request.method) {
    case 'PUT':
      state.objects.set(key, body);
      return [200, ''];
    case 'DELETE':
      state.objects.delete(key);
      return [204, ''];
    case 'GET':
      if (key === '') return [200, list(state, url.searchParams)];
      return state.objects.has(key) ? [200, state.objects.get(key)!] : [404, error('NoSuchKey')];
    default:
      return [405, error('MethodNotAllowed')];
  }
}

function error(code: string, message = code): string {
  return `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
}

function list({ objects }: S3Server, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? '';
  const names = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).sort();
  const page = names.slice(0, PAGE);
  const more = names.length > PAGE;
  const contents = page.map(
    (name) => `<Contents><Key>${name}</Key><Size>${objects.get(name)!.length}</Size></Contents>`,
  );
  return (
    `<?xml version="1.0"?><ListBucketResult><Name>${S3_BUCKET}</Name><KeyCount>${page.length}</KeyCount>` +
    `<IsTruncated>${more}</IsTruncated>${contents.join('')}` +
    `${more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''}</ListBucketResult>`
  );
}

const hex = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const escaped = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Computes the signature anew, as the service's documentation says; undefined if it equals the signature in the request. */
function signatureFault({ method, url, headers }: IncomingMessage, body: Buffer): string | undefined {
  const sent =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!sent) return 'there is no signature';
  const [, key, day, region, names, signature] = sent;
  if (key !== S3_KEYS.accessKey || region !== S3_KEYS.region) return 'unknown key or another region';
  const payload = String(headers['x-amz-content-sha256']);
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== hex(body)) return 'the body is not the signed one';
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names!.split(';').includes(name))) {
    return 'a header is not signed';
  }
  const [path, search = ''] = url!.split('?');
  const query = [...new URLSearchParams(search)]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');
  const canonical = [
    method,
    path,
    query,
    ...names!.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    payload,
  ].join('\n');
  const time = String(headers['x-amz-date']);
  if (!time.startsWith(day!)) return 'the day is another one';
  const text = ['AWS4-HMAC-SHA256', time, `${day}/${region}/s3/aws4_request`, hex(canonical)].join('\n');
  let signing: Buffer = hmac(`AWS4${S3_KEYS.secretKey}`, day!);
  for (const part of [region!, 's3', 'aws4_request']) signing = hmac(signing, part);
  const right = hmac(signing, text);
  return timingSafeEqual(right, Buffer.from(signature!, 'hex')) ? undefined : 'the signature is wrong';
}
