import type { AuditEntry } from '../../schemas/audit.ts';
import type { ApiKey } from '../../schemas/key.ts';
import type { Project, ProjectChange } from '../../schemas/project.ts';

/** A stored key: SHA-256 (hex) of the key, and of the previous key after a rotation. */
export interface StoredKey extends Omit<ApiKey, 'lastUsedAt'> {
  digest: string;
  previousDigest: string | null;
}

/** An audit entry without the fields that the store sets. */
export type AuditInput = Omit<AuditEntry, 'id' | 'at'>;

/** The outcome of a removal: `removed`, `absent`, or what the project still has. */
export type ProjectRemoval = 'removed' | 'absent' | 'experiments' | 'sweeps' | 'keys';

/** Projects. */
export interface ProjectStore {
  /** All projects by name, always with `default`. */
  list(): Promise<Project[]>;
  get(name: string): Promise<Project | undefined>;
  /** False if the name is taken. */
  create(project: Project): Promise<boolean>;
  /** The changed project; undefined if there is none. Throws `precondition-failed` if it has another `revision`. */
  change(name: string, change: ProjectChange, revision?: number): Promise<Project | undefined>;
  /**
   * Removes a project without experiments, sweeps and valid API keys. Throws `precondition-failed` if it has another
   * `revision`.
   */
  remove(name: string, now: number, revision?: number): Promise<ProjectRemoval>;
  /** Bytes that projects store in Redis, by name; a project that stores nothing may be absent. */
  storedBytes(): Promise<ReadonlyMap<string, number>>;
  /** Whether the project has an experiment or a sweep of that id. */
  contains(project: string, id: string): Promise<boolean>;
}

/** API keys and sign-outs. */
export interface AccessStore {
  /** Grows with every change of a key or a project, and with every sign-out: a microsecond of the server's clock. */
  version(): Promise<number>;
  keys(): Promise<(StoredKey & Pick<ApiKey, 'lastUsedAt'>)[]>;
  /** Also deletes keys that ended more than 90 days before. False if its project does not exist. */
  createKey(key: StoredKey): Promise<boolean>;
  /** Applies `change` to the current key of that id; undefined if there is none, or if `change` returns undefined. */
  changeKey(id: string, change: (key: StoredKey) => StoredKey | undefined): Promise<StoredKey | undefined>;
  /** Records that a key was used. */
  keyUsed(id: string, at: number): Promise<void>;
  /** Ends the sign-ins of a credential so far; a sign-in expires after `lastsMs`. */
  signOut(credential: string, lastsMs: number): Promise<void>;
  /** The version that the last sign-out of each credential made. */
  signOuts(): Promise<ReadonlyMap<string, number>>;
}

/** The audit log. */
export interface AuditStore {
  /**
   * Adds an entry. The oldest entries are deleted by number and age; new entries of a caller replace only that caller's.
   * Entries of administrators (`administrative`) have a stream of their own.
   */
  record(entry: AuditInput, options?: { administrative?: boolean }): Promise<void>;
  /** Entries older than `before` (an entry's id), newest first. */
  page(limit: number, before: string | undefined): Promise<AuditEntry[]>;
}
