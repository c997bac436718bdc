import { getOrMake } from '../domain/get-or-make.ts';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** After the name of the metric: the series of a histogram have several names. */
  readonly series?: '' | '_bucket' | '_sum' | '_count';
}

export interface Metric {
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

export const expositionMediaType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). The samples of a metric stand together, also those of different
 * slices; metrics without a sample are left out.
 */
export async function* renderExposition(
  slices: Iterable<readonly Metric[]> | AsyncIterable<readonly Metric[]>,
): AsyncGenerator<string> {
  const families = new Map<string, string[]>();
  for await (const metrics of slices)
    for (const metric of metrics.filter(({ samples }) => samples.length > 0)) {
      const lines = metric.samples.map((sample) => line(metric.name, sample));
      getOrMake(families, metric.name, () => [renderHead(metric)]).push(lines.join(''));
    }
  for (const family of families.values()) yield* family;
}

/** The lines that stand once before all samples of a metric. */
function renderHead({ name, help, type }: Metric): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`;
}

/** `le` are upper bounds of cumulative counts, without the last one that holds everything. */
export function histogramSamples(histogram: {
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
  readonly sum: number;
  readonly count: number;
}): readonly Sample[] {
  const { buckets, sum, count } = histogram;
  const all = [...buckets, { le: Number.POSITIVE_INFINITY, count }];
  return [
    ...all.map((bucket) => ({
      series: '_bucket' as const,
      labels: { le: formatNumber(bucket.le) },
      value: bucket.count,
    })),
    { series: '_sum', labels: {}, value: sum },
    { series: '_count', labels: {}, value: count },
  ];
}

function line(name: string, { labels, value, series = '' }: Sample): string {
  let pairs = '';
  for (const key in labels) pairs += `${pairs === '' ? '{' : ','}${key}="${escapeLabel(labels[key] ?? '')}"`;
  return `${name}${series}${pairs === '' ? '' : `${pairs}}`} ${formatNumber(value)}\n`;
}

function formatNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

const plain = /^[\w .:/-]*$/;

/** Label values may hold any character; the format wants whole Unicode, and three characters escaped. */
function escapeLabel(text: string): string {
  // There are hundreds of thousands of them, and hardly any has something to escape.
  return plain.test(text)
    ? text
    : text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
