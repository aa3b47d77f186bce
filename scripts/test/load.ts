import { spawn } from 'node:child_process';

/** Processes that each keep a core busy until the end of the scope that holds them. */
export function startLoad(processes: number): Disposable {
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const stop = (): void => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.on('exit', stop);
  return {
    [Symbol.dispose]() {
      process.off('exit', stop);
      stop();
    },
  };
}
