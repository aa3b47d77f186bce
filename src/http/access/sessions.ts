import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Name of the cookie that stands for a token in a browser. */
export const SESSION_COOKIE = 'echelon_session';

/** A sign-in lasts this long. */
export const SESSION_MS = 12 * 3600 * 1000;

/** A login link is valid this long. */
export const LINK_MS = 60 * 1000;

/** What a genuine cookie or code says: whose it is, and the version of access when it was issued. */
export interface SignIn {
  credential: string;
  /** A sign-out with a later version ends it. Times would not do: clocks differ, and have the same millisecond twice. */
  version: number;
}

/** What a browser holds in place of a token. */
export interface Sessions {
  /** A cookie's value for a sign-in, valid for {@link SESSION_MS} from `now`. */
  issue(signIn: SignIn, now: number): string;
  /** A cookie that is genuine and in time; whether its credential is still accepted is for others to say. */
  verify(cookie: string, now: number): SignIn | undefined;
  /** A code for a login link, valid for {@link LINK_MS} from `now`. Every replica with the same secret accepts it. */
  issueCode(signIn: SignIn, now: number): string;
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
    issue({ credential, version }, now) {
      const text = `${credential}.${version}.${now + SESSION_MS}`;
      return `${text}.${sign(text)}`;
    },
    verify(cookie, now) {
      const [credential = '', version = '', expiry = '', signature = ''] = cookie.split('.');
      const expected = sign(`${credential}.${version}.${expiry}`);
      const genuine = timingSafeEqual(sha256(signature), sha256(expected));
      return genuine && Number(expiry) > now ? { credential, version: Number(version) } : undefined;
    },
    issueCode({ credential, version }, now) {
      const text = `${credential}.${version}.${now + LINK_MS}.${randomBytes(9).toString('base64url')}`;
      return `${text}.${sign(text, 'login-link')}`;
    },
    verifyCode(code, now) {
      const [credential = '', version = '', expiry = '', once = '', signature = ''] = code.split('.');
      const expected = sign(`${credential}.${version}.${expiry}.${once}`, 'login-link');
      const genuine = timingSafeEqual(sha256(signature), sha256(expected));
      return genuine && Number(expiry) > now ? { credential, version: Number(version) } : undefined;
    },
    redeem: (code) => codes.delete(sha256(code).toString('hex')),
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
