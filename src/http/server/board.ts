import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import { EchelonError } from '../../core/errors.ts';
import type { App } from './deps.ts';
import { READ } from './policy.ts';

const PREFIX = '/queues';
/** Links of the board's page to other hosts. */
const FOREIGN = /<link[^>]*\bhref="https?:[^>]*>/g;

/** BullMQ's board of the line at /queues, for reading: it has no button, and no other method than GET is taken. */
export async function addBoard(app: App, queues: readonly Queue[]): Promise<void> {
  const adapter = new FastifyAdapter();
  adapter.setBasePath(PREFIX);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    // Its types are those of CommonJS without exactOptionalPropertyTypes.
    serverAdapter: adapter as unknown as Parameters<typeof createBullBoard>[0]['serverAdapter'],
    options: { uiConfig: { boardTitle: 'Echelon' } },
  });
  await app.register(
    async (scope) => {
      scope.addHook('onRoute', (route) => {
        // Its jobs are those of all projects.
        route.config = { ...route.config, policy: { ...READ, scope: 'admin' }, page: true };
      });
      scope.addHook('onRequest', async (request, reply) => {
        if (request.method === 'GET' || request.method === 'HEAD') return;
        reply.header('allow', 'GET, HEAD');
        throw new EchelonError('method-not-allowed', 'The board is for reading.');
      });
      // Its page asks another host for a font, which would learn who looks at it.
      scope.addHook('onSend', async (_request, reply, payload) =>
        typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
          ? payload.replace(FOREIGN, '')
          : payload,
      );
      await scope.register((board, options, done) => {
        // Its own handler would answer our refusals with 500 and its words.
        board.setErrorHandler = (() => board) as typeof board.setErrorHandler;
        adapter.registerPlugin()(board, options, done);
      });
    },
    { prefix: PREFIX },
  );
}
