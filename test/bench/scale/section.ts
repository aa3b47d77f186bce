/** A section of the page of scale: a curve, or a few that belong together. */
export type Section = (options: SectionOptions) => Promise<Outcome>;

/** What the command line says. */
export interface SectionOptions {
  /** How long a section of hours lasts. */
  minutes: number;
}

/** The text of a section below its title, and the figures from which the sizing at the end of the page is derived. */
export interface Outcome {
  text: string;
  figures: Readonly<Record<string, number>>;
}
