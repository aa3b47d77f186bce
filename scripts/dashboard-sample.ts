// Makes packages/echelon-dashboard/src/sample.json.gz: a batch of a real run with a planted fault, for installations without experiments.
import { writeFileSync } from 'node:fs';
import { startInstallation } from '../test/support/dashboard.ts';

await using resources = new AsyncDisposableStack();
const { client, finished } = await startInstallation(resources);
const replay = { fault: 'zero-levels-kept', batches: 1 };
const id = await finished({ name: 'sample', engine: 'replay', replay } as never);
const path = { id, attempt: 1, batch: 1 };
const bundle = await client.open('/v1/experiments/{id}/batches/{attempt}/{batch}/bundle', { path });
writeFileSync('packages/echelon-dashboard/src/sample.json.gz', Buffer.from(await bundle.arrayBuffer()));
