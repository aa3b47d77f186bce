import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { LINK_MS, type Sessions } from '../../access/sessions.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

/** POST /v1/login-links: a link that signs a browser in once, as the caller. */
export function addLoginLinks(app: App, { callers, clock }: RouteDeps, sessions: Sessions): void {
  route(app, {
    at: 'POST /v1/login-links',
    operationId: 'createLoginLink',
    scope: 'read',
    idempotency: 'ignored',
    summary: 'Create a link that signs a browser in to the dashboard once',
    description:
      'The session has the scopes and the project of the API key. A session cannot create a link, because the link would extend it.',
    tag: 'access',
    answers: {
      201: StrictObject({
        path: Text('Path and query to open at the address of the API. It is a secret.'),
        expiresAt: Type.Integer({
          description: 'Time in milliseconds after which the link is invalid.',
        }),
      }),
    },
    handler: async (request, reply) => {
      if (request.headers.authorization === undefined)
        throw new EchelonError(
          'forbidden',
          'A login link needs an API key, not a session. Send the API key.',
        );
      const now = clock.now();
      const issued = { credential: request.credential, version: await callers.version() };
      const path = `/login?code=${sessions.issueCode(issued, now, LINK_MS)}`;
      return reply.code(201).send({ path, expiresAt: now + LINK_MS });
    },
  });
}
