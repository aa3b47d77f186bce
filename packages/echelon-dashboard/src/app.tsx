import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useResource } from './app/resource.ts';
import { navigate, place } from './app/router.ts';
import { session, sessionFailure } from './app/session.ts';
import { matchPath } from './models/paths.ts';
import { Frame } from './parts/frame.tsx';
import { Failed, Loading } from './parts/states.tsx';

/** What a screen gets: the parameters of its path. */
interface ScreenProps {
  params: Record<string, string>;
}

type Screen = ComponentType<ScreenProps>;

/** The screens by their paths; each is loaded when it is first shown. */
const ROUTES: [pattern: string, load: () => Promise<Screen>][] = [
  ['/', async () => (await import('./screens/now.tsx')).Now],
  ['/experiments', async () => (await import('./screens/experiments.tsx')).Experiments],
  ['/experiments/:id', async () => (await import('./screens/experiment.tsx')).Experiment],
  ['/experiments/:id/batches/:attempt/:batch', async () => (await import('./screens/batch.tsx')).Batch],
  [
    '/experiments/:id/batches/:attempt/:batch/trajectory',
    async () => (await import('./screens/trajectory.tsx')).Trajectory,
  ],
  [
    '/experiments/:id/batches/:attempt/:batch/same-state',
    async () => (await import('./screens/same-state.tsx')).SameState,
  ],
  ['/sweeps', async () => (await import('./screens/sweeps.tsx')).Sweeps],
  ['/sweeps/:id', async () => (await import('./screens/sweep.tsx')).Sweep],
  ['/comparisons', async () => (await import('./screens/comparisons.tsx')).Comparisons],
  ['/comparisons/:id', async () => (await import('./screens/comparison.tsx')).Comparison],
  ['/compare', async () => (await import('./screens/compare.tsx')).Compare],
  ['/queue', async () => (await import('./screens/queue.tsx')).Queue],
  ['/clusters', async () => (await import('./screens/clusters.tsx')).Clusters],
  ['/submit', async () => (await import('./screens/submit.tsx')).Submit],
  ['/verify', async () => (await import('./screens/verify.tsx')).Verify],
  ['/rules', async () => (await import('./screens/rules.tsx')).Rules],
  ['/notifications', async () => (await import('./screens/notifications.tsx')).Notifications],
  ['/access', async () => (await import('./screens/access.tsx')).Access],
  ['/system', async () => (await import('./screens/system.tsx')).System],
];

function routeOf(path: string) {
  for (const [pattern, load] of ROUTES) {
    const params = matchPath(pattern, path);
    if (params !== undefined) return { pattern, load, params };
  }
  return undefined;
}

const loaded = new Map<string, Screen>();

/** The screen of a route: at once if it was shown before. */
function useScreen(route: ReturnType<typeof routeOf>) {
  const pattern = route?.pattern ?? '';
  const asked = useResource(async () => {
    const screen = await route?.load();
    if (screen !== undefined) loaded.set(pattern, screen);
    return screen;
  }, [pattern]);
  return { screen: loaded.get(pattern), failure: asked.failure };
}

export function App() {
  const { path } = place.value;
  const route = routeOf(path);
  const { screen: Shown, failure: unloaded } = useScreen(route);
  const failure = sessionFailure.value;
  let content: ComponentChildren;
  if (failure !== undefined) content = <Failed failure={failure} onRetry={() => location.reload()} />;
  else if (route === undefined) content = <Unknown path={path} />;
  else if (Shown === undefined && unloaded) {
    const message = `This screen could not be loaded: ${unloaded.message}. A new version may have been installed.`;
    content = <Failed failure={{ kind: 'failed', message }} onRetry={() => location.reload()} />;
  } else if (Shown === undefined || session.value === undefined) content = <Loading />;
  else
    content = (
      <Guard key={path}>
        <Shown params={route.params} />
      </Guard>
    );
  return <Frame>{content}</Frame>;
}

function Unknown({ path }: { path: string }) {
  return (
    <div class="state">
      <h1>No such screen</h1>
      <p>
        There is nothing at <code>{path}</code>.
      </p>
      <p>
        <button type="button" onClick={() => navigate('/experiments')}>
          Go to the experiments
        </button>
      </p>
    </div>
  );
}

/** A screen that throws shows its error; the frame and other screens stay usable. */
class Guard extends Component<{ children: ComponentChildren }, { error?: Error }> {
  static override getDerivedStateFromError(error: Error) {
    return { error };
  }
  override componentDidCatch(error: Error): void {
    console.error(error);
  }
  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const message = `This screen failed: ${error.message}`;
    return <Failed failure={{ kind: 'failed', message }} onRetry={() => this.setState({})} />;
  }
}
