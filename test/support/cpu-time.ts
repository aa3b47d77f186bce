/**
 * The CPU time in ms that this process spends while `work` is done. Unlike the time on the clock it does not grow on a
 * busy machine, so that a test may bound it.
 */
export async function cpuTimeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
