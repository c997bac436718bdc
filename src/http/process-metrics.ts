/** `process_*` and `nodejs_*`, as dashboards for Node expect them; by prom-client, loaded with the first scrape. */
export async function renderProcessMetrics(): Promise<string> {
  registry ??= openRegistry();
  return `${await (await registry).metrics()}\n`;
}

/** One for the process: its observers outlive a server that makes way for another. */
let registry: ReturnType<typeof openRegistry> | null = null;

/** What `nodejs_active_*` say by type already; as gauges that are called a total, `promtool check metrics` refuses them. */
const doubled = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

async function openRegistry() {
  const { default: prometheus } = await import('prom-client');
  const opened = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: opened });
  for (const name of doubled) opened.removeSingleMetric(name);
  return opened;
}
