export function isolation(python: string): [string, ...string[]] | undefined;
