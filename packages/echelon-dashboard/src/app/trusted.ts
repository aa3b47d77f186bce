interface Policy {
  createScriptURL(url: string): string;
}
interface Factory {
  createPolicy(name: string, rules: Policy): Policy;
}

const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;
const rules: Policy = {
  createScriptURL(url) {
    if (new URL(url, location.href).origin !== location.origin)
      throw new TypeError('a script of another site');
    return url;
  },
};
const policy = factory?.createPolicy('echelon', rules) ?? rules;

/** The URL of one of our own workers, as browsers with Trusted Types take it. */
export const workerUrl = (url: string): string => policy.createScriptURL(url);
