/** Answers requests on standard input, one after another, until standard input ends: the verifier inside of another program. */

import { framed, payloadsOf } from './frames.ts';
import { hasBatch, type Request, respond } from './requests.ts';

const EMPTY = new Uint8Array(0);

let waiting: Request | undefined;
for await (const payload of payloadsOf(process.stdin)) {
  const request = waiting ?? (JSON.parse(new TextDecoder().decode(payload)) as Request);
  if (waiting === undefined && hasBatch(request)) {
    waiting = request;
    continue;
  }
  const response = respond(request, waiting === undefined ? EMPTY : payload);
  waiting = undefined;
  process.stdout.write(framed(new TextEncoder().encode(JSON.stringify(response))));
}
