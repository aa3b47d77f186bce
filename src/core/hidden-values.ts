import { MASK, maskSecrets } from './secret-patterns.ts';

/** Values that must not appear in text that other parties influence. */
export interface HiddenValues {
  /** Masks this value from now on. A value below 6 characters is ignored, since masking it would mangle words. */
  hide(value: string | null | undefined): void;
  /** The text without hidden values, and without what looks like a secret. */
  redact(text: string): string;
}

const MIN_CHARACTERS = 6;

/** See {@link HiddenValues}. Values are found as they are, escaped as JSON, percent-encoded and in base64. */
export function createHiddenValues(): HiddenValues {
  const forms = new Set<string>();
  return {
    hide(value) {
      if (value == null || value.length < MIN_CHARACTERS) return;
      const base64 = Buffer.from(value)
        .toString('base64')
        .replace(/={1,2}$/, '');
      // The last character of base64 depends on what follows.
      for (const form of [
        value,
        JSON.stringify(value).slice(1, -1),
        encodeURIComponent(value),
        base64.slice(0, -1),
      ])
        forms.add(form);
    },
    redact(text) {
      let shown = text;
      for (const form of forms) if (shown.includes(form)) shown = shown.replaceAll(form, MASK);
      return maskSecrets(shown);
    },
  };
}
