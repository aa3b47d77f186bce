export function hasRedis(path?: string): boolean;
