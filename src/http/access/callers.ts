import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Caller, SCOPES } from '../../core/scopes.ts';
import { isLive } from '../../schemas/key.ts';
import { isSignIn, type StoredKey } from '../../store/access/api-keys.ts';
import type { Store } from '../../store/store.ts';
import type { SignIn } from './sessions.ts';

/** Open streams are looked through this often for keys that have ended. */
const WATCH_MS = 1000;
/** A key's use is noted at most this often. */
const NOTE_MS = 60_000;

/** Who asks, and what a cookie keeps in place of the token: it ends with the very secret that it came from. */
export interface Known {
  caller: Caller;
  credential: string;
}

/** Whom an open stream belongs to: a credential, and the session if the caller has one. */
interface Watched {
  credential: string;
  signIn: SignIn | undefined;
}

/** Knows the tokens of the configuration and the API keys of the store. */
export interface Callers {
  /**
   * Who has this token; undefined for every one that is not valid, after the same work, whatever is wrong with it.
   * Throws EchelonError `store-unavailable` if a key cannot be looked up.
   */
  byToken(token: string): Promise<Known | undefined>;
  /**
   * The version of access now, for {@link SignIn}: read before the credential is looked up, so that a sign-out in between
   * ends the session too. Throws as {@link Callers.byToken}.
   */
  version(): Promise<number>;
  /**
   * Who signed in, for as long as the key is accepted and until the credential is signed out. Throws as
   * {@link Callers.byToken}.
   */
  bySignIn(signIn: SignIn): Promise<Known | undefined>;
  /** A signal that aborts soon after the caller is no longer accepted; its reason is a sentence. */
  watch(watched: Watched): { signal: AbortSignal; release(): void };
  close(): void;
}

/** What an API key looks like: its id is shown, its secret has 256 bits. */
const KEY = /^echelon_([0-9a-hjkmnp-tv-z]{16})_[A-Za-z0-9_-]{43}$/;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The id in a token that is written like an API key. */
export function keyIdOf(token: string): string | undefined {
  return KEY.exec(token)?.[1];
}

/** A new id of an API key. */
export function newKeyId(): string {
  return Array.from(randomBytes(16), (byte) => ALPHABET[byte & 31]).join('');
}

/** A new API key of that id, and the digest that is stored of it. */
export function newKeyToken(id: string): { token: string; digest: string } {
  const token = `echelon_${id}_${randomBytes(32).toString('base64url')}`;
  return { token, digest: sha256(token).toString('hex') };
}

/**
 * Every look-up of a key asks the store for the version (one small read, shared by requests that come
 * together) and reads the keys again only after one: so a revoked key ends at once, in every process, and a wrong one
 * costs no more than a right one.
 */
export function createCallers(input: {
  store: Store;
  tokens: readonly string[];
  clock: { now(): number };
}): Callers {
  const { store, clock } = input;
  const tokens = input.tokens.map((token) => ({ digest: sha256(token), known: tokenCaller(token) }));
  const copy = keyCopy(store);

  function found(key: StoredKey, digest: string): Known {
    copy.noteUse(key.id, clock.now());
    const { id, name, project, scopes, createdBy } = key;
    const person = isSignIn(key)
      ? { person: `person-${sha256(createdBy).toString('hex').slice(0, 16)}` }
      : {};
    return {
      caller: { id, name, project, scopes, ...person },
      credential: `${id}~${digest.slice(0, SHORT)}`,
    };
  }

  const watches = createWatches(({ credential, signIn }, { keys, signedOut }) => {
    const end = signIn && endOfSession(signIn, signedOut, clock.now());
    const { id, short } = parts(credential);
    if (end !== undefined || short === undefined || keyOf(credential, keys, clock.now())) return end;
    return endOf(keys.get(id), clock.now());
  }, copy);

  return {
    async byToken(token) {
      const given = sha256(token);
      const own = tokens.filter(({ digest }) => timingSafeEqual(digest, given));
      if (own[0] !== undefined) return own[0].known;
      const id = keyIdOf(token);
      if (id === undefined) return undefined;
      const key = (await copy.read()).keys.get(id);
      const equal = (digest: string) => timingSafeEqual(Buffer.from(digest, 'hex'), given);
      return accepted(key, clock.now(), equal) ? found(key!, given.toString('hex')) : undefined;
    },

    version: async () => (await copy.read()).version,

    async bySignIn(signIn) {
      const { keys, signedOut } = await copy.read();
      if (endOfSession(signIn, signedOut, clock.now()) !== undefined) return undefined;
      const { credential } = signIn;
      const own = tokens.find(({ known }) => known.credential === credential);
      if (own !== undefined) return own.known;
      const key = keyOf(credential, keys, clock.now());
      return key && found(key, parts(credential).short!);
    },

    watch: watches.watch,
    close: watches.close,
  };
}

function accepted(key: StoredKey | undefined, now: number, matches: (digest: string) => boolean): boolean {
  // The same two comparisons for a key that is not there.
  const current = matches(key?.digest ?? NO_DIGEST);
  const previous = matches(key?.previousDigest ?? NO_DIGEST) && (key?.overlapUntil ?? 0) > now;
  return (current || previous) && key !== undefined && isLive(key, now);
}

/** The key of a credential, while it is accepted. */
function keyOf(credential: string, keys: Access['keys'], now: number): StoredKey | undefined {
  const { id, short } = parts(credential);
  const key = keys.get(id);
  const matches = (digest: string) => digest.slice(0, SHORT) === short;
  return short !== undefined && accepted(key, now, matches) ? key : undefined;
}

function endOfSession(
  { credential, version, expiresAt }: SignIn,
  signedOut: Access['signedOut'],
  now: number,
): string | undefined {
  if (version < (signedOut.get(credential) ?? 0)) return 'the session was signed out';
  return expiresAt <= now ? 'the session has expired' : undefined;
}

/** Looks once a second, while there is anything to watch, whether its callers are still accepted. */
function createWatches(endOf: (watched: Watched, access: Access) => string | undefined, copy: KeyCopy) {
  const open = new Map<AbortController, Watched>();
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    const access = await copy.read();
    for (const [controller, watched] of open) {
      const reason = endOf(watched, access);
      if (reason === undefined) continue;
      open.delete(controller);
      controller.abort(reason);
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    watch(watched: Watched): { signal: AbortSignal; release(): void } {
      const controller = new AbortController();
      open.set(controller, watched);
      // Without the store nothing is known; the stream waits for it, too.
      timer ??= setInterval(() => void look().catch(() => {}), WATCH_MS).unref();
      return {
        signal: controller.signal,
        release() {
          open.delete(controller);
          if (open.size === 0) stop();
        },
      };
    },
    close(): void {
      open.clear();
      stop();
    },
  };
}

/** No text has this digest that anybody could know. */
const NO_DIGEST = randomBytes(32).toString('hex');
const SHORT = 16;

function parts(credential: string): { id: string; short: string | undefined } {
  const [id = '', short] = credential.split('~');
  return { id, short: short?.length === SHORT ? short : undefined };
}

/** The credential of a token of the configuration. */
export function credentialOfToken(token: string): string {
  return `token-${sha256(token).toString('hex').slice(0, 16)}`;
}

/** A token of the configuration may do everything: with it the first keys are made. */
function tokenCaller(token: string): Known {
  const id = credentialOfToken(token);
  return { caller: { id, name: id.slice(0, 12), project: null, scopes: SCOPES }, credential: id };
}

function endOf(key: StoredKey | undefined, now: number): string {
  if (key === undefined || key.revokedAt !== null) return 'the key was revoked';
  return isLive(key, now) ? 'the key was rotated' : 'the key has expired';
}

type KeyCopy = ReturnType<typeof keyCopy>;

/** What the store says of access at one moment. */
interface Access {
  version: number;
  keys: Map<string, StoredKey>;
  signedOut: ReadonlyMap<string, number>;
}

type AccessReads = Store;

/** The keys and sign-outs of the store as they are now, read again only when they have changed. */
function keyCopy(store: AccessReads) {
  let held: Access | undefined;
  let running: Promise<Access> | undefined;
  let next: Promise<Access> | undefined;
  const noted = new Map<string, number>();

  async function look(): Promise<Access> {
    // The version comes first: what changes in between is read again by the next look.
    const version = await store.access.version();
    if (held?.version === version) return held;
    const [all, signedOut] = await Promise.all([store.access.keys(), store.access.signOuts()]);
    held = { version, keys: new Map(all.map((key) => [key.id, key])), signedOut };
    for (const { id, lastUsedAt } of all) noted.set(id, Math.max(lastUsedAt ?? 0, noted.get(id) ?? 0));
    return held;
  }

  function start(): Promise<Access> {
    next = undefined;
    running = look().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    /** A look that began before this call does not count: it may have missed a key that was made since. */
    read(): Promise<Access> {
      if (running === undefined) return start();
      next ??= running.then(start, start);
      return next;
    },
    noteUse(id: string, now: number): void {
      if (now - (noted.get(id) ?? 0) < NOTE_MS) return;
      noted.set(id, now);
      store.access.keyUsed(id, now).catch(() => {});
    },
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
