// A stand-in for the ray-worker of a cluster, in a process of its own: its drivers are timers. Started by startFleet.
import type { FakeDriver } from '../support/fake-driver.ts';
import { startFakeRayWorker } from '../support/fake-ray-worker.ts';

const setup = JSON.parse(process.argv[2]!) as { directory: string; driver: FakeDriver; cpus: number };
const rayWorker = await startFakeRayWorker({ ...setup, synced: false });
// Without its parent no process would end it.
process.on('disconnect', () => process.exit());
process.send!(rayWorker.address);
