/**
 * Milliseconds of processor time that this thread has taken. For tests of how much work something is: the time on a clock
 * also has what other test files take of the processor meanwhile.
 */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
