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

/** Who may see and do what: projects, API keys, the audit log. */
export interface AccessStore {
  // --- projects
  /** All projects, by name; `default` is always among them. */
  projects(): Promise<Project[]>;
  project(name: string): Promise<Project | undefined>;
  /**
   * Makes the projects of experiments and sweeps that were accepted when any name would do, once for each store.
   */
  adoptProjects(now: number): Promise<void>;
  /** False: there is one of that name. */
  createProject(project: Project): Promise<boolean>;
  /** The changed project; undefined where there is none. Throws `precondition-failed` where it has another `version`. */
  changeProject(name: string, change: ProjectChange, version?: string): Promise<Project | undefined>;
  /**
   * Removes a project to which nothing belongs; otherwise says what does. Throws `precondition-failed` where it has
   * another `version`.
   */
  removeProject(name: string, now: number, version?: string): Promise<ProjectRemoval>;
  /** Whether there is an experiment or a sweep of that id in the project; one of another project is looked up as none is. */
  isIn(project: string, id: string): Promise<boolean>;

  // --- API keys
  /** Another one after every change of a key or a project, and after every sign-out. */
  accessVersion(): Promise<string>;
  keys(): Promise<(StoredKey & Pick<ApiKey, 'lastUsedAt'>)[]>;
  /** Also forgets keys that ended more than 90 days before it was made. False: its project is gone. */
  createKey(key: StoredKey): Promise<boolean>;
  /** Applies `change` to the key of that id as it is now; undefined where there is none, or `change` gives none. */
  changeKey(id: string, change: (key: StoredKey) => StoredKey | undefined): Promise<StoredKey | undefined>;
  /** Notes that a key was used. */
  keyUsed(id: string, at: number): Promise<void>;

  // --- sign-outs
  /** Ends the sign-ins of a credential that were made until `at`; one lasts `lastsMs` by itself. */
  signOut(credential: string, at: number, lastsMs: number): Promise<void>;
  /** When each credential was last signed out. */
  signOuts(): Promise<ReadonlyMap<string, number>>;

  // --- audit
  /**
   * Adds an entry; the oldest ones go by number and age, those of one caller among themselves. What an administrator did
   * (`administrative`) is kept apart, where nobody else's entries push it out.
   */
  audit(entry: AuditInput, options?: { administrative?: boolean }): Promise<void>;
  /** Entries older than `before` (an entry's id), newest first. */
  auditLog(limit: number, before: string | undefined): Promise<AuditEntry[]>;
}
