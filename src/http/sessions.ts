import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Name of the cookie that stands for a token in a browser. */
export const SESSION_COOKIE = 'echelon_session';

/** A sign-in lasts this long. */
export const SESSION_MS = 12 * 3600 * 1000;

/** Checks tokens, and what a browser holds in place of one. */
export interface Sessions {
  /** Short name of a token that is accepted, else undefined. Takes the same time for every wrong one. */
  identify(token: string): string | undefined;
  /** A cookie's value for an identity, valid for {@link SESSION_MS} from `now`. */
  issue(identity: string, now: number): string;
  /** The identity of a cookie that is genuine, in time, and whose token is still accepted. */
  verify(cookie: string, now: number): string | undefined;
  /** The identity (of the first token) that a login code stands for, once for each code. */
  redeem(code: string): string | undefined;
}

/** Sessions are signed, not stored: every replica with the same secret knows them; login codes are this process's. */
export function createSessions(input: {
  tokens: readonly string[];
  secret: string;
  loginCodes?: readonly string[];
}): Sessions {
  const digests = input.tokens.map(sha256);
  const names = digests.map((digest) => digest.toString('hex').slice(0, 16));
  const codes = new Set((input.loginCodes ?? []).map((code) => sha256(code).toString('hex')));
  const sign = (text: string) =>
    createHmac('sha256', input.secret).update(`session ${text}`).digest('base64url');

  return {
    identify(token) {
      const given = sha256(token);
      let found: string | undefined;
      digests.forEach((digest, index) => {
        if (timingSafeEqual(digest, given)) found = names[index];
      });
      return found;
    },
    issue(identity, now) {
      const text = `${identity}.${now + SESSION_MS}`;
      return `${text}.${sign(text)}`;
    },
    verify(cookie, now) {
      const [identity = '', expiry = '', signature = ''] = cookie.split('.');
      const genuine = timingSafeEqual(sha256(signature), sha256(sign(`${identity}.${expiry}`)));
      return genuine && Number(expiry) > now && names.includes(identity) ? identity : undefined;
    },
    redeem: (code) => (codes.delete(sha256(code).toString('hex')) ? names[0] : undefined),
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
