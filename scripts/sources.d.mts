/** Makes every generated folder that is absent or out of date. */
export function makeSources(): Promise<void>;
