import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IPv4 addresses that are not public (IANA's registry of special-purpose addresses, and multicast). */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** Of the public IPv6 addresses, 2000::/3: special ones, and those that reach IPv4 addresses (Teredo, 6to4). */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const specialV4 = blockList(SPECIAL_V4);
const specialV6 = blockList(SPECIAL_V6);
const publicV6 = blockList(['2000::/3']);

/** The set of some networks, such as 10.0.0.0/8, and addresses. */
export function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const [family, length] = isIP(address) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
    list.addSubnet(address, bits === undefined ? length : Number(bits), family);
  }
  return list;
}

/** Whether notifications may be sent to an address: it is public, or the operator allows it. */
export function mayReach(address: string, allowed: BlockList): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (allowed.check(address, family)) return true;
  if (version === 4) return !specialV4.check(address);
  return publicV6.check(address, family) && !specialV6.check(address, family);
}

/** Why no connection was made. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  /** The URL states the address: the refusal tells nothing that its author does not know. */
  readonly isStated: boolean;

  constructor(message: string, isStated: boolean) {
    super(message);
    this.isStated = isStated;
  }
}

/** How long a name may take to resolve, and how often it is tried. */
const RESOLVE = { timeout: 3_000, tries: 2 };

/**
 * A `lookup` for Node's http that resolves by DNS, checks every address, and gives these addresses to the connection. DNS is
 * asked from this process: lookups of the operating system would occupy the threads that files need. `resolve`: gives the
 * addresses of a name; default: by DNS.
 */
export function checkedLookup(allowed: BlockList, resolve = resolveAll): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const refused = addresses.find((address) => !mayReach(address, allowed));
        if (refused !== undefined) return callback(refusal(host, refused), '');
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (options.all) return callback(null, found);
        return callback(null, found[0]!.address, found[0]!.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

/** Throws if the host of a URL is an address that must not be reached: Node looks up names only. */
export function assertMayReach(hostname: string, allowed: BlockList): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0 && !mayReach(address, allowed)) throw refusal(hostname, address);
}

function refusal(host: string, address: string): RefusedAddressError {
  const isStated = host.replace(/^\[(.*)\]$/, '$1') === address;
  const of = isStated ? address : `${address} of ${host}`;
  return new RefusedAddressError(
    `the address ${of} is not public; the operator can allow it with ECHELON_NOTIFY_PRIVATE`,
    isStated,
  );
}

async function resolveAll(host: string): Promise<string[]> {
  const resolver = new Resolver(RESOLVE);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [v4, v6].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (found.length === 0) throw (v4 as PromiseRejectedResult).reason ?? new Error(`${host} has no address`);
  return found;
}
