import type { Readable } from 'node:stream';
import { EchelonError } from '../../core/errors.ts';
import { parseJsonBytes } from '../../schemas/json.ts';
import type { App } from './deps.ts';

const JSON_TYPE = /^application\/json(?:; ?charset=(?:utf-8|"utf-8"))?$/i;
const FILE_TYPE = 'application/octet-stream';
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:; ?charset=utf-8)?$/i;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Takes an HTML form besides JSON. */
    form?: boolean;
    /** Takes a file of any content (`application/octet-stream`) in place of JSON; the handler gets it as a stream. */
    file?: boolean;
  }
}

/**
 * Bodies are JSON in UTF-8, said so in one plain Content-Type and not compressed: with anything that could be
 * read in two ways a schema might be passed by. Forms and files are taken if a route says so.
 */
export function addBodyParsers(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => {
      // Generated clients send a Content-Type even without a body.
      if (body.length === 0) return undefined;
      const value = parseJsonBytes(body);
      // If the body is optional, null would bypass the schema.
      if (value === null) throw new EchelonError('invalid-request', 'The body must be an object, not null.');
      return value;
    },
  );
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );
  app.addContentTypeParser(FILE_TYPE, async (_request: unknown, body: Readable) => body);
  app.addHook('onRequest', async (request) => {
    const type = request.headers['content-type'];
    const given = request.raw.rawHeaders.filter(
      (name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type',
    ).length;
    const { config } = request.routeOptions;
    const form = config?.form && type !== undefined && FORM_TYPE.test(type);
    const wanted = config?.file ? FILE_TYPE : 'application/json';
    const fits = config?.file ? type === FILE_TYPE : type === undefined || JSON_TYPE.test(type) || form;
    if (given > 1 || !fits) {
      throw new EchelonError(
        'unsupported-media-type',
        `Send exactly one header \`Content-Type: ${wanted}\`, without other parameters.`,
      );
    }
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      throw new EchelonError('unsupported-media-type', 'Send the body without compression.');
    }
  });
}
