// The load of the bench of submissions, in a process of its own: URL, path, seconds, connections, token → JSON.
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';

const [url, path, seconds, connections, token] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const authorization = `Bearer ${token}`;
const body = JSON.stringify({ engine: 'local', name: 'bench', estimator: { name: 'hgpo' } });

const result = await autocannon({
  url,
  duration: Number(seconds),
  connections: Number(connections),
  requests: [
    path === '/healthz'
      ? { path, headers: { authorization } }
      : {
          ...{ path, method: 'POST', body },
          setupRequest: (request) => ({
            ...request,
            // A key of its own, as every careful client sends one.
            headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
          }),
        },
  ],
});
const refused = result.non2xx + result.errors;
console.log(JSON.stringify({ rate: result.requests.average, p99: result.latency.p99, refused }));
