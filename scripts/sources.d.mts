/** Makes the generated folders of `only` that are absent or out of date. Default: all. */
export function makeSources(only?: readonly string[]): Promise<void>;
