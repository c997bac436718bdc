/** Milliseconds that this process has calculated for: where the machine does something else meanwhile, they stand still. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
