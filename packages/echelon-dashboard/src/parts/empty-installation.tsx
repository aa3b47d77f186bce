import { useState } from 'preact/hooks';
import { api, failureOf } from '../app/api.ts';
import { navigate } from '../app/router.ts';
import { may } from '../app/session.ts';

/** As deploy/examples/replay-fault.yaml. */
const REPLAY = {
  name: 'a faulty estimator',
  engine: 'replay',
  replay: { fault: 'zero-levels-kept', batches: 3, delaySeconds: 0.5 },
} as const;

/** An installation without experiments: two ways to see what Echelon does. */
export function Start() {
  const [error, setError] = useState<string>();
  const run = async () => {
    try {
      const { id } = await api.post('/v1/experiments', { body: REPLAY });
      navigate(`/experiments/${id}`);
    } catch (thrown) {
      setError(failureOf(thrown).message);
    }
  };
  return (
    <div class="state start">
      <h2>No experiment yet</h2>
      <p>
        A replay streams recorded advantage batches as a trainer with a planted fault would report them: you
        see how Echelon finds the wrong rows. It needs no GPU and takes a minute.
      </p>
      <p class="choices">
        <button type="button" class="primary" disabled={!may.value('submit')} onClick={run}>
          Run the replay with a planted fault
        </button>
        <a class="button" href="/verify">
          Verify a file
        </a>
      </p>
      <p>
        Or <a href="/verify?sample=1">look at a sample</a>: the screens of a recorded batch with wrong rows.
      </p>
      {!may.value('submit') && <p>Your key lacks the scope submit, which the replay needs.</p>}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
