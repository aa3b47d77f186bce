/**
 * What a caller may do. `read`: every GET of a project's things. `submit`: submit, cancel, rerun, delete, change of
 * priority. `custom-code`: specs that load code. `admin`: clusters, the line, projects, keys, the audit log.
 */
export const SCOPES = ['read', 'submit', 'custom-code', 'admin'] as const;
/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

/** Who stands behind a request. */
export interface Caller {
  /** Stable and short; never a secret. */
  id: string;
  /** For people. */
  name: string;
  /** The only project that it sees; null: all of them. */
  project: string | null;
  scopes: readonly Scope[];
  /** The same for all sign-ins of a person; absent for keys and tokens. */
  person?: string;
}

/** Whose limits count: all sign-ins of a person are one. */
export function holderOf({ id, person }: Pick<Caller, 'id' | 'person'>): string {
  return person ?? id;
}

/** The caller of a public route. It sees no project and has no scope. */
export const ANONYMOUS: Caller = Object.freeze({ id: '', name: '', project: '', scopes: [] });

/** Whether things of `project` are there for the caller. */
export function sees(caller: Pick<Caller, 'project'>, project: string): boolean {
  return caller.project === null || caller.project === project;
}

/**
 * Whether the caller has the scope. What `admin` opens belongs to no project, so a caller that is bound to one never
 * has it.
 */
export function hasScope(caller: Pick<Caller, 'project' | 'scopes'>, scope: Scope): boolean {
  return caller.scopes.includes(scope) && (scope !== 'admin' || caller.project === null);
}
