import { ERRORS, type ErrorCode } from '../../core/errors.ts';

/** What to do about each error; beside the registry, so that a new code without advice does not compile. */
export const ADVICE: Readonly<Record<ErrorCode, string>> = {
  'invalid-request':
    'Something of the request cannot be read: the JSON text, a parameter or a header. `problems` names each place.',
  'invalid-spec':
    'The spec does not fit its schema, or its values contradict each other. `problems` names each place by a JSON pointer and says what is expected there, with the nearest valid name for one that is not known.',
  'invalid-cursor':
    'Cursors and stream ids are given out by the server and fit the list or stream they came from. Start without one.',
  unauthenticated:
    'Send `Authorization: Bearer <API key or token>`, or sign in at /login. The answer is the same whatever is wrong: unknown, revoked, expired.',
  forbidden:
    'Your key lacks the scope that the detail names; or the Host header names a server that is not this one; or a write by cookie did not come from a page of this server.',
  'not-found': 'The path, or the thing it names, does not exist.',
  'method-not-allowed': 'The header `Allow` lists the methods of this path.',
  'request-timeout': 'Send all of a request within the limit that the documentation page states.',
  'idempotency-conflict':
    'The same Idempotency-Key was sent with another request before. Use a new key for a new request.',
  'idempotency-in-progress':
    'The first request with this key is not answered yet. Repeat it after a moment: it is then answered as the first one was.',
  'not-ended': 'Only what has ended is deleted. Cancel it first, and wait until its state is final.',
  'precondition-failed':
    'The `ETag` that `If-Match` names is not that of the present record. Read it again, and decide anew. The ETag of an experiment, a project or a cluster changes only with what people decide of it.',
  'not-queued':
    'A priority counts while an experiment waits. This one has its place on a cluster already, or has ended.',
  'already-final': 'An experiment that has succeeded, failed or been cancelled stays so.',
  expired:
    "It was there, and its project's retention deleted it. The record says when (`expired`); a batch that a rule keeps stays.",
  'history-trimmed':
    'A feed keeps its newest entries only. Read the present state from the lists, then go on with the id that `problems` names, or without one.',
  'body-too-large': 'A body may have 256 kB.',
  'unsupported-media-type':
    'Send `Content-Type: application/json`, once, in UTF-8, without compression and without other parameters.',
  'rate-limited':
    'The header `Retry-After` says when to go on. Limits are counted for each key or token; failed sign-ins for each address, and for each key that is tried.',
  'queue-draining':
    'Somebody drains the queue of the project, or the whole line: what was accepted goes on to its end, and nothing new is taken until it is resumed. The detail says who and why.',
  'line-full':
    'So many experiments of one project wait that no more are taken. Go on when some have started, or cancel some; other projects are not touched.',
  'headers-too-large': 'The request line and all headers together may have 16 kB.',
  internal: 'A fault of this program; its log has the details.',
  'took-too-long':
    'The server works on too much at once, or the request asks for too much. A write may have taken effect or not: repeat it with the same Idempotency-Key.',
  'store-unavailable':
    'Redis is away or too slow. A write may have taken effect or not: repeat it with the same Idempotency-Key. Running experiments go on.',
  'store-full':
    'Redis is nearly at its memory limit. What was accepted goes on; new experiments are accepted when there is room.',
  'record-too-new':
    'In the middle of an upgrade a process of the version before may meet what a new one has written. Upgrade it; the record is as it was.',
  'store-unfit':
    'Redis would lose what it accepts: it needs `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction`.',
  'verifier-busy':
    'Explanations and bundles are computed for each request, a bounded number at a time. Wait as `Retry-After` says.',
  'archive-mismatch':
    'A process does not start with it. Mount the archive that the message names; a copy of it needs its file `archive-id`.',
  'lease-lost': 'Between dispatchers only: the attempt was taken over by another one.',
  'sequence-gap': 'Between dispatcher and store only: events are recorded in order, without a gap.',
  'rayworker-unavailable': 'The ray-worker of the cluster cannot be reached. Its trainings go on.',
  'rayworker-refused': 'The ray-worker did not accept the call; the detail says why.',
  'cluster-not-found': 'GET /v1/clusters lists the clusters that are registered.',
  'project-not-found': 'GET /v1/projects lists the projects that your key sees.',
  'project-exists': 'Its name is taken. Choose another name.',
  'limit-reached':
    'The detail names the limit. Remove a project, or revoke a key, and send the request again.',
  'project-busy':
    'A project is removed only when nothing belongs to it: no experiments, no sweeps, no valid keys. `default` always stays.',
  'cluster-busy':
    'A cluster is removed only when nothing runs there. Drain it first: nothing new starts, and what runs goes on to its end; or cancel what runs. A preflight is refused while several wait for the cluster: try again a little later.',
  'not-verifiable':
    'The recorded batch lacks a column or a parameter that the recomputation needs; the detail names it.',
};

/** docs/reference/errors.md: every error of the registry, in its order. */
export function errorsMarkdown(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const sections = codes.map((code) => {
    const { title, status, retry } = ERRORS[code];
    return `## ${code}\n\n${title}.\n\nStatus ${status}; ${retry ? 'may be retried unchanged' : 'not to be retried unchanged'}.\n\n${ADVICE[code]}\n`;
  });
  return `# Errors

Every answer of status 400 and above is a problem document (RFC 9457, \`application/problem+json\`). Its \`code\` is one
of those below and does not change; \`detail\` says what is wrong this time; \`problems\` names fields; \`retry\` says
whether the same request may succeed later. This page is written by \`node scripts/generate/errors.ts\`.

${sections.join('\n')}`;
}
