import { ERRORS, type ErrorCode } from '../../core/errors.ts';

/** Causes and remedies by error code. A code without an entry does not compile. */
export const ADVICE: Readonly<Record<ErrorCode, string>> = {
  'invalid-request': 'The JSON text, a parameter or a header is malformed. `problems` names each field.',
  'invalid-spec':
    'The spec does not match its schema, or its values contradict each other. `problems` names each field by JSON pointer and the expected value. For an unknown name, it suggests the nearest valid one.',
  'invalid-cursor':
    'Cursors and stream ids are valid only for the list or stream that returned them. Repeat the request without one to start from the beginning.',
  unauthenticated:
    'Send `Authorization: Bearer API_KEY`, or sign in at /login. The response does not say whether the key is unknown, revoked or expired.',
  forbidden:
    'There are three causes. The key lacks the scope that `detail` names. The Host header is not in the list of allowed names. A write with a session cookie has a foreign `Origin`.',
  'not-found':
    'The path, or the resource that it names, does not exist. A resource of another project gets the same answer.',
  'method-not-allowed': 'The header `Allow` lists the methods of this path.',
  'request-timeout': 'Send the complete request within the time limit.',
  'idempotency-conflict':
    'An earlier request with this Idempotency-Key had a different method, path or body. Use a new key for a new request.',
  'idempotency-in-progress':
    'The first request with this key has no response yet. Repeat the request in a moment to get the first response.',
  'not-ended':
    'Only an experiment that has ended can be deleted. Cancel it, wait for a final state, then delete it.',
  'precondition-failed':
    "The ETag in `If-Match` is not the record's current ETag. Read the record again, then repeat the change. Only changes by users alter the ETag of an experiment, a project or a cluster.",
  'not-queued':
    'The priority can change only while an experiment is queued. This experiment has an allocation or has ended.',
  'already-final':
    'An experiment that has succeeded, failed or been cancelled never changes its state again.',
  expired:
    "The project's retention deleted this data. The field `expired` of the experiment says when. Batches that a rule retains are not deleted.",
  'history-trimmed':
    'A feed retains only its newest entries. Read the current state from the lists. Then continue from the id in `problems`, or without an id.',
  'body-too-large': 'The limit is 256 kB.',
  'unsupported-media-type':
    'Send exactly one header `Content-Type: application/json`, in UTF-8, without compression and without other parameters.',
  'rate-limited':
    'Wait for the time in the header `Retry-After`. The server counts requests for each key or token. It counts failed sign-ins for each address and for each key.',
  'queue-closed':
    'An operator closed the queue of the project or of all projects. Accepted experiments continue. Submit again after the queue has been resumed. `detail` names the operator and the reason.',
  'queue-full':
    'The number of queued experiments of the project has reached its limit. Retry after some have started, or cancel some. Other projects are not affected.',
  'quota-exceeded':
    'Records, events and reports of the project take as many bytes of Redis as its quota allows. `detail` has both figures. Delete experiments that have ended, shorten the retention of the project, or ask an administrator for a larger quota. Accepted experiments continue. Other projects are not affected.',
  'headers-too-large': 'The request line and all headers together are limited to 16 kB.',
  internal: "This is a defect of Echelon. The server's log has the details.",
  'deadline-exceeded':
    'The server is overloaded, or the request asks for too much. A write may have taken effect. Repeat it with the same Idempotency-Key.',
  'store-unavailable':
    'Redis is unreachable or too slow. A write may have taken effect. Repeat it with the same Idempotency-Key. Running experiments continue.',
  'store-full':
    'Redis is close to its memory limit. Accepted experiments continue. Retry when memory is free.',
  'record-too-new':
    'During an upgrade, an older process read a record that a newer process wrote. Upgrade the older process. The record is unchanged.',
  'identity-unavailable':
    'People cannot sign in now. Sessions and API keys continue to work. Check the provider and `ECHELON_OIDC_ISSUER`.',
  'store-misconfigured':
    'Redis could lose accepted work. It must be a primary with `appendonly yes`, `appendfsync always`, `no-appendfsync-on-rewrite no`, `aof-load-truncated no`, `maxmemory-policy noeviction` and a `maxmemory`. The api checks it at its start, after each reconnect and every ten seconds; until the settings are right, it refuses writes.',
  'store-foreign':
    'Redis has lost its data, or its address leads to the Redis of another installation. Nothing is read or written there. Restore the data of Redis, or correct the address. To start over without the data, see the guide on operating.',
  'verifier-busy':
    'Explanations, bundles and reports of uploaded files are computed on request, and the number of concurrent computations is limited. Wait for the time in `Retry-After`.',
  'archive-mismatch':
    'The process does not start with this archive. Mount the archive that the message names. A copy of an archive needs the file `archive-id`.',
  'event-conflict':
    'An event with this number is recorded, and its content differs. Nothing was changed. Number new events after the last recorded one; an empty list of events returns its number.',
  'lease-lost':
    'The token is not that of an open external run: it is wrong, or the run has ended. Open a new run. Between dispatchers: another dispatcher took over the attempt.',
  'sequence-gap':
    'Events of an attempt are recorded in order, without a gap. `detail` names the missing event. For an external run, send the events from that number on.',
  'rayworker-unavailable': "The cluster's ray-worker is unreachable. Its running experiments continue.",
  'rayworker-refused': '`detail` gives the reason.',
  'cluster-not-found': '`GET /v1/clusters` lists the registered clusters.',
  'project-not-found': '`GET /v1/projects` lists the projects that the API key may read.',
  'project-exists': 'Choose another name.',
  'limit-reached': '`detail` names the limit. Delete a project or revoke an API key, then retry.',
  'project-busy':
    'A project can be deleted only without experiments, sweeps and valid API keys. The project `default` cannot be deleted.',
  'cluster-busy':
    'A cluster can be removed only when nothing runs on it. Drain the cluster and wait, or cancel its experiments. A preflight is refused if too many preflights are pending; retry later.',
  'unreadable-file':
    'The uploaded file is in no supported format, is incomplete, or contradicts its format. `detail` names the place and what was expected there.',
  'not-verifiable':
    'The recorded batch lacks a column or a parameter that the recomputation needs. `detail` names it.',
};

/** Text of docs/gen/errors.md: every error of the registry, in its order. */
export function errorsMarkdown(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const sections = codes.map((code) => {
    const { title, status, retry } = ERRORS[code];
    return `## ${code}\n\n**${status}${retry ? ', retry later' : ''}**: ${title}. ${ADVICE[code]}\n`;
  });
  return `# Errors

Every response with status 400 or above is a problem document (RFC 9457, \`application/problem+json\`). \`code\` is one
of the codes on this page and is stable. \`detail\` describes this failure, \`problems\` lists the faulty fields, and
\`retry\` says whether the same request may succeed later; all others fail again.

${sections.join('\n')}`;
}
