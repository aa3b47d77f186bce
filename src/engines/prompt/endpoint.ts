import { BlockList, isIP } from 'node:net';
import type { FieldProblem } from '../../core/errors.ts';

/**
 * Addresses of clouds that give the machine's credentials to every caller. No permission opens them. The driver refuses
 * the same (engines/prompt/addresses.py), after it has resolved the name.
 */
const NEVER = new BlockList();
NEVER.addSubnet('169.254.0.0', 16, 'ipv4');
NEVER.addSubnet('fe80::', 10, 'ipv6');
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) NEVER.addAddress(address, 'ipv4');
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) NEVER.addAddress(address, 'ipv6');
for (const prefix of ['64:ff9b::', '::']) NEVER.addSubnet(`${prefix}a9fe:0`, 112, 'ipv6');

const NEVER_NAMES = new Set(['metadata', 'metadata.google.internal', 'metadata.goog']);
const NEVER_SUFFIX = /(?:^|\.)instance-data(?:\.ec2\.internal)?$/;

/** Problems of an endpoint's address that no permission removes. */
export function addressProblems(baseUrl: string): FieldProblem[] {
  const problem = (message: string) => [{ field: '/model/baseUrl', message }];
  if (!URL.canParse(baseUrl) || new URL(baseUrl).port === '0')
    return problem('is not an address: the port must be from 1 to 65535, and an IPv6 address complete');
  const { hostname } = new URL(baseUrl);
  return isMetadata(hostname)
    ? problem(`names ${hostname}, where clouds give out credentials; it is never called`)
    : [];
}

/** Whether a host of an URL, which has every number of an address in its usual form, is a metadata service. */
function isMetadata(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  if (family > 0) return NEVER.check(host, family === 4 ? 'ipv4' : 'ipv6');
  return NEVER_NAMES.has(host) || NEVER_SUFFIX.test(host);
}

/** Problem of an endpoint that is not among the allowed `origins`. */
export function unlistedProblem(baseUrl: string, origins: readonly string[]): FieldProblem[] {
  if (!URL.canParse(baseUrl) || origins.includes(new URL(baseUrl).origin)) return [];
  const { origin } = new URL(baseUrl);
  const message = `names ${origin}, which is none of the allowed endpoints (${origins.join(', ') || 'none'}): that needs a key with the scope custom-code, or an operator who adds it to ECHELON_PROMPT_ENDPOINTS`;
  return [{ field: '/model/baseUrl', message }];
}
