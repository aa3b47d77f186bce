// A container's health check: exit code 0 if the address answers with 200 within three seconds.
const [url = 'http://127.0.0.1:7077/readyz'] = process.argv.slice(2);
try {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(3000), redirect: 'error' });
  if (status !== 200) throw new Error(`answered ${status}`);
} catch (error) {
  console.error(`${url}: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
