import type { AuditEntry } from '../../schemas/audit.ts';
import type { ApiKey } from '../../schemas/key.ts';
import type { Project, ProjectChange } from '../../schemas/project.ts';

/** A key as it is stored: SHA-256 (hex) of the whole key, that of the one before its rotation beside it. */
export interface StoredKey extends Omit<ApiKey, 'lastUsedAt'> {
  digest: string;
  previousDigest: string | null;
}

/** What is written of a request; the rest of the entry is the store's to say. */
export type AuditInput = Omit<AuditEntry, 'id' | 'at'>;

/** What belongs to a project that cannot be removed. */
export type ProjectRemoval = 'removed' | 'absent' | 'experiments' | 'sweeps' | 'keys';

/** Projects. */
export interface ProjectStore {
  /** All projects, by name; `default` is always among them. */
  list(): Promise<Project[]>;
  get(name: string): Promise<Project | undefined>;
  /** False: there is one of that name. */
  create(project: Project): Promise<boolean>;
  /** The changed project; undefined where there is none. Throws `precondition-failed` where it has another `revision`. */
  change(name: string, change: ProjectChange, revision?: number): Promise<Project | undefined>;
  /**
   * Removes a project to which nothing belongs; otherwise says what does. Throws `precondition-failed` where it has
   * another `revision`.
   */
  remove(name: string, now: number, revision?: number): Promise<ProjectRemoval>;
  /** Whether there is an experiment or a sweep of that id in the project; one of another project is looked up as none is. */
  contains(project: string, id: string): Promise<boolean>;
}

/** API keys and sign-outs. */
export interface AccessStore {
  /** Another one after every change of a key or a project, and after every sign-out. */
  version(): Promise<string>;
  keys(): Promise<(StoredKey & Pick<ApiKey, 'lastUsedAt'>)[]>;
  /** Also forgets keys that ended more than 90 days before it was made. False: its project is gone. */
  createKey(key: StoredKey): Promise<boolean>;
  /** Applies `change` to the key of that id as it is now; undefined where there is none, or `change` gives none. */
  changeKey(id: string, change: (key: StoredKey) => StoredKey | undefined): Promise<StoredKey | undefined>;
  /** Notes that a key was used. */
  keyUsed(id: string, at: number): Promise<void>;
  /** Ends the sign-ins of a credential that were made until `at`; one lasts `lastsMs` by itself. */
  signOut(credential: string, at: number, lastsMs: number): Promise<void>;
  /** When each credential was last signed out. */
  signOuts(): Promise<ReadonlyMap<string, number>>;
}

/** The audit log. */
export interface AuditStore {
  /**
   * Adds an entry; the oldest ones go by number and age, those of one caller among themselves. What an administrator did
   * (`administrative`) is kept apart, where nobody else's entries push it out.
   */
  record(entry: AuditInput, options?: { administrative?: boolean }): Promise<void>;
  /** Entries older than `before` (an entry's id), newest first. */
  page(limit: number, before: string | undefined): Promise<AuditEntry[]>;
}
