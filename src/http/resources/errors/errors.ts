import { Type } from 'typebox';
import { EchelonError, ERRORS, type ErrorCode } from '../../../core/errors.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { App } from '../../server/deps.ts';
import { ADVICE } from '../../server/error-docs.ts';
import { escapeHtml, htmlPage } from '../../server/pages.ts';
import { READ } from '../../server/policy.ts';

/** GET /errors/:code: the documentation that a problem document's `type` points to. */
export function addErrorPages(app: App): void {
  app.get(
    '/errors/:code',
    {
      config: { policy: READ, page: true },
      schema: { hide: true, params: StrictObject({ code: Type.String() }) },
    },
    async (request, reply) => {
      const { code } = request.params;
      if (!isCode(code)) throw new EchelonError('not-found', 'This error code does not exist.');
      return reply.type('text/html; charset=utf-8').send(errorPage(code));
    },
  );
}

function isCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}

function errorPage(code: ErrorCode): string {
  const { title, status, retry } = ERRORS[code];
  const advice = escapeHtml(ADVICE[code]).replace(/`([^`]*)`/g, '<code>$1</code>');
  return htmlPage(
    code,
    `<h1><code>${code}</code></h1>
<p>${escapeHtml(title)}. Status ${status}. ${retry ? 'The same request may succeed later.' : 'The same request will fail again.'}</p>
<p>${advice}</p>`,
  );
}
