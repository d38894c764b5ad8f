/**
 * The processor time of this process so far, in milliseconds. The difference of two tells what a computation cost, also on a machine that
 * is busy with something else; a clock would count the others too.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
