import type { Project } from '../schemas/project.ts';

/** Who may see and do what: projects. */
export interface AccessStore {
  /** All projects, by name; `default` is always among them. */
  projects(): Promise<Project[]>;
  project(name: string): Promise<Project | undefined>;
  /** The project of an experiment or a sweep, by its id; it costs the same whether or not there is one. */
  projectOf(id: string): Promise<string | undefined>;
}
