import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Name of the cookie that stands for a token in a browser. */
export const SESSION_COOKIE = 'echelon_session';

/** A sign-in lasts this long. */
export const SESSION_MS = 12 * 3600 * 1000;

/** A login link is valid this long. */
export const LINK_MS = 60 * 1000;

/** What a genuine cookie says: whose it is, and when it was issued. */
export interface SignIn {
  credential: string;
  issuedAt: number;
}

/** What a browser holds in place of a token. */
export interface Sessions {
  /** A cookie's value for a credential, valid for {@link SESSION_MS} from `now`. */
  issue(credential: string, now: number): string;
  /** A cookie that is genuine and in time; whether its credential is still accepted is for others to say. */
  verify(cookie: string, now: number): SignIn | undefined;
  /** A code for a login link, valid for {@link LINK_MS} from `now`. Every replica with the same secret accepts it. */
  issueCode(credential: string, now: number): string;
  /** A code of {@link Sessions.issueCode} that is genuine and not expired; the caller refuses a second use. */
  verifyCode(code: string, now: number): SignIn | undefined;
  /** Whether this is a login code that was not used before. */
  redeem(code: string): boolean;
}

/** Sessions are signed, not stored: every replica with the same secret knows them; login codes are this process's. */
export function createSessions(input: { secret: string; loginCodes?: readonly string[] }): Sessions {
  const codes = new Set((input.loginCodes ?? []).map((code) => sha256(code).toString('hex')));
  const sign = (text: string, purpose = 'session') =>
    createHmac('sha256', input.secret).update(`${purpose} ${text}`).digest('base64url');

  return {
    issue(credential, now) {
      const text = `${credential}.${now + SESSION_MS}`;
      return `${text}.${sign(text)}`;
    },
    verify(cookie, now) {
      const [credential = '', expiry = '', signature = ''] = cookie.split('.');
      const genuine = timingSafeEqual(sha256(signature), sha256(sign(`${credential}.${expiry}`)));
      return genuine && Number(expiry) > now
        ? { credential, issuedAt: Number(expiry) - SESSION_MS }
        : undefined;
    },
    issueCode(credential, now) {
      const text = `${credential}.${now + LINK_MS}.${randomBytes(9).toString('base64url')}`;
      return `${text}.${sign(text, 'login-link')}`;
    },
    verifyCode(code, now) {
      const [credential = '', expiry = '', once = '', signature = ''] = code.split('.');
      const expected = sign(`${credential}.${expiry}.${once}`, 'login-link');
      const genuine = timingSafeEqual(sha256(signature), sha256(expected));
      return genuine && Number(expiry) > now ? { credential, issuedAt: Number(expiry) - LINK_MS } : undefined;
    },
    redeem: (code) => codes.delete(sha256(code).toString('hex')),
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
