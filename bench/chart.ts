/**
 * What a mail costs: CPU time and resident memory of a chart, and the time of a whole mail with it.
 *
 *   node bench/chart.ts
 */
import { createTransport } from 'nodemailer';
import { drawChart, renderChartSvg } from '../src/channels/email/draw-chart.ts';
import { planCharts } from '../src/channels/email/email-charts.ts';
import { composeEmail } from '../src/channels/email/email-sender.ts';
import { renderSlack } from '../src/channels/slack/render-slack.ts';
import { buildMessage } from '../test/support/messages.ts';

const rounds = 100;
const message = buildMessage();
const addresses = {
  from: { name: 'lowwater', address: 'lowwater@example.com' },
  to: [{ name: '', address: 'ops@example.com' }],
};
const [plan] = planCharts(message);
if (plan === undefined) throw new Error('The message has no chart.');
const { drawing } = plan;

const before = process.memoryUsage().rss;
const first = await measure(1, () => drawChart(drawing));
for (let round = 0; round < 20; round++) await drawChart(drawing);
const chart = await measure(rounds, () => drawChart(drawing));
const added = process.memoryUsage().rss - before;
const svg = await measure(rounds, () => Promise.resolve(renderChartSvg(drawing)));
const transport = createTransport({ streamTransport: true, buffer: true });
const mail = await measure(rounds, async () => transport.sendMail(await composeEmail(message, addresses)));
const slack = await measure(rounds, () => Promise.resolve(JSON.stringify(renderSlack(message))));

console.log(`first chart (loads the renderer)   ${first.cpuMs.toFixed(1)} ms CPU`);
console.log(
  `chart, once warm                   ${chart.cpuMs.toFixed(1)} ms CPU (aim: 25), of which SVG ${svg.cpuMs.toFixed(2)} ms`,
);
console.log(
  `memory added by ${rounds + 21} charts         ${(added / 1e6).toFixed(1)} MB resident (aim: 40)`,
);
console.log(
  `whole mail with its chart          ${mail.cpuMs.toFixed(1)} ms CPU, ${mail.wallMs.toFixed(1)} ms`,
);
console.log(`Slack message                      ${slack.cpuMs.toFixed(2)} ms CPU`);

async function measure(
  count: number,
  work: () => Promise<unknown>,
): Promise<{ readonly cpuMs: number; readonly wallMs: number }> {
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (let round = 0; round < count; round++) await work();
  const used = process.cpuUsage(cpu);
  return { cpuMs: (used.user + used.system) / 1000 / count, wallMs: (performance.now() - started) / count };
}
