/** A bucket as a URL names it. */
export interface BucketPlace {
  name: string;
  /** Without a slash at either end; may be empty. */
  prefix: string;
  /** http(s)://host:port; null: Amazon's own. */
  endpoint: string | null;
  region: string;
}

const FORM = 's3://bucket/prefix?endpoint=https://host&region=name';

/** Reads `s3://bucket/prefix?endpoint=…&region=…`, or says what is wrong with it. It never holds credentials. */
export function parseBucket(value: string): BucketPlace | string {
  if (!URL.canParse(value)) return `must have the form ${FORM}`;
  const { protocol, hostname, port, pathname, searchParams, username, password, hash } = new URL(value);
  if (username || password)
    return 'must not hold credentials; set ECHELON_ARCHIVE_ACCESS_KEY and ECHELON_ARCHIVE_SECRET_KEY';
  if (protocol !== 's3:' || hostname === '' || port !== '' || hash !== '')
    return `must have the form ${FORM}`;
  const unknown = [...searchParams.keys()].find((name) => name !== 'endpoint' && name !== 'region');
  if (unknown !== undefined) return `takes endpoint and region, not "${unknown}"; the form is ${FORM}`;
  const endpoint = searchParams.get('endpoint');
  if (endpoint !== null && !/^https?:\/\/[^/]/.test(endpoint))
    return 'must have an endpoint that begins with http:// or https://';
  return {
    name: hostname,
    prefix: decodeURIComponent(pathname).replace(/^\/+|\/+$/g, ''),
    endpoint: endpoint === null ? null : new URL(endpoint).origin,
    region: searchParams.get('region') ?? 'us-east-1',
  };
}
