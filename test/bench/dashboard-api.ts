// The api of the bench of the dashboard, in a process of its own; settings come from the environment.
import { loadSettings } from '../../src/config/settings.ts';
import { startServices } from '../../src/main.ts';

const settings = loadSettings(process.env);
const services = await startServices({ roles: ['api'], settings, redis: null, clusters: [] });
process.send!({ url: services.url, token: services.token });
// Without its parent no process would end it.
process.on('disconnect', () => void services.stop().then(() => process.exit()));
