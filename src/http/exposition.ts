export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export type Metric =
  | {
      readonly type: 'gauge' | 'counter';
      readonly name: string;
      readonly help: string;
      readonly samples: readonly Sample[];
    }
  | {
      readonly type: 'histogram';
      readonly name: string;
      readonly help: string;
      /** Cumulative, without the last one that holds everything. */
      readonly buckets: readonly { readonly le: number; readonly count: number }[];
      readonly sum: number;
      readonly count: number;
    };

export const expositionMediaType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Prometheus' text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). Metrics
 * without a sample are left out.
 */
export function renderExposition(metrics: readonly Metric[]): string {
  return metrics.map(renderMetric).join('');
}

function renderMetric(metric: Metric): string {
  const samples = renderSamples(metric);
  return samples === '' ? '' : renderHead(metric) + samples;
}

/** The lines that stand once before all samples of a metric. */
export function renderHead({ name, help, type }: Metric): string {
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
}

export function renderSamples(metric: Metric): string {
  const lines =
    metric.type === 'histogram'
      ? histogramLines(metric)
      : metric.samples.map((sample) => line(metric.name, sample));
  return lines.join('');
}

function histogramLines({ name, buckets, sum, count }: Extract<Metric, { type: 'histogram' }>): string[] {
  return [
    ...buckets.map((bucket) =>
      line(`${name}_bucket`, { labels: { le: formatNumber(bucket.le) }, value: bucket.count }),
    ),
    line(`${name}_bucket`, { labels: { le: '+Inf' }, value: count }),
    line(`${name}_sum`, { labels: {}, value: sum }),
    line(`${name}_count`, { labels: {}, value: count }),
  ];
}

function line(name: string, { labels, value }: Sample): string {
  let pairs = '';
  for (const key in labels) pairs += `${pairs === '' ? '{' : ','}${key}="${escapeLabel(labels[key] ?? '')}"`;
  return `${name}${pairs === '' ? '' : `${pairs}}`} ${formatNumber(value)}\n`;
}

function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

const plain = /^[\w .:/-]*$/;

/** Label values may hold any character; the format wants whole Unicode, and three characters escaped. */
function escapeLabel(text: string): string {
  // There are hundreds of thousands of them, and hardly any has something to escape.
  return plain.test(text)
    ? text
    : text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
