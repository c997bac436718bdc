import { getOrMake } from '../domain/get-or-make.ts';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** The end of the metric's name: the series of a histogram have different names. */
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
 * Version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). All samples of a metric come together, even those of different
 * slices. Metrics without a sample are left out.
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

/** The lines that come once before all samples of a metric. */
function renderHead({ name, help, type }: Metric): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`;
}

/** `le`: the upper bounds of cumulative counts, without the last bucket, which holds everything. */
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

/** Label values may contain any character. The format requires well-formed Unicode, and three characters escaped. */
function escapeLabel(text: string): string {
  // A quick check first: there are hundreds of thousands of values, and hardly any needs escaping.
  return plain.test(text)
    ? text
    : text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
