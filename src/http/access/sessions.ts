import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A sign-in lasts this long. */
export const SESSION_MS = 12 * 3600 * 1000;

/** A login link is valid this long. */
export const LINK_MS = 60 * 1000;

/** The login link that a starting server prints is valid this long. */
export const START_LINK_MINUTES = 15;

/**
 * The cookie that stands for a token in a browser. With https only this host can set it (`__Host-`). Browsers take such a
 * cookie by http on loopback addresses at most, and not all browsers do: with http the cookie has no prefix.
 */
export function sessionCookie(publicUrl: string): { name: string; secure: boolean } {
  const secure = publicUrl.startsWith('https:');
  return { name: secure ? '__Host-echelon_session' : 'echelon_session', secure };
}

/** Who signs in, and the version of access at that time. */
interface Issued {
  credential: string;
  /** A sign-out with a later version ends it. Times would not do: clocks differ, and have the same millisecond twice. */
  version: number;
}

/** What a genuine cookie or login code says. */
export interface SignIn extends Issued {
  expiresAt: number;
}

/** What a browser holds in place of a token. */
export type Sessions = ReturnType<typeof createSessions>;

/** Sessions and login codes are signed, not stored: every replica with the same secret knows them. */
export function createSessions(secret: string) {
  const signatureOf = (purpose: string, text: string) =>
    createHmac('sha256', secret).update(`${purpose} ${text}`).digest('base64url');

  function sign(purpose: string, { credential, version, expiresAt }: SignIn): string {
    const text = [credential, version, expiresAt, randomBytes(9).toString('base64url')].join('.');
    return `${text}.${signatureOf(purpose, text)}`;
  }

  /** The signature covers all that stands before it: nothing can be added to a signed text. */
  function open(purpose: string, signed: string, now: number): SignIn | undefined {
    const end = Math.max(0, signed.lastIndexOf('.'));
    const text = signed.slice(0, end);
    const genuine = timingSafeEqual(sha256(signed.slice(end + 1)), sha256(signatureOf(purpose, text)));
    const [credential = '', version, expiresAt] = text.split('.');
    return genuine && Number(expiresAt) > now
      ? { credential, version: Number(version), expiresAt: Number(expiresAt) }
      : undefined;
  }

  return {
    /** A cookie's value for a sign-in, valid for {@link SESSION_MS} from `now`. */
    issue: (issued: Issued, now: number) => sign('session', { ...issued, expiresAt: now + SESSION_MS }),
    /** A cookie that is genuine and in time; whether its credential is still accepted is for others to say. */
    verify: (cookie: string, now: number) => open('session', cookie, now),
    /** A code for a login link, valid for `lastsMs` from `now`. Every replica with the same secret accepts it. */
    issueCode: (issued: Issued, now: number, lastsMs: number) =>
      sign('login-link', { ...issued, expiresAt: now + lastsMs }),
    /** A code of `issueCode` that is genuine and not expired; the caller refuses a second use. */
    verifyCode: (code: string, now: number) => open('login-link', code, now),
    /** A value that a browser keeps for us: signed, not encrypted. */
    seal(purpose: string, value: unknown, expiresAt: number): string {
      const text = `${Buffer.from(JSON.stringify(value)).toString('base64url')}.${expiresAt}`;
      return `${text}.${signatureOf(purpose, text)}`;
    },
    /** The value of `seal` for the same purpose; undefined if it is not genuine or has expired. */
    unseal<T>(purpose: string, sealed: string, now: number): T | undefined {
      const [value = '', expiresAt = '', signature = '', ...more] = sealed.split('.');
      // Exactly what was signed: a use is claimed by the whole text, and another text would be another use.
      if (more.length > 0) return undefined;
      const genuine = timingSafeEqual(
        sha256(signature),
        sha256(signatureOf(purpose, `${value}.${expiresAt}`)),
      );
      if (!genuine || Number(expiresAt) <= now) return undefined;
      return JSON.parse(Buffer.from(value, 'base64url').toString()) as T;
    },
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
