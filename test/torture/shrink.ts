import type { Settings } from '../../src/domain/settings.ts';
import type { Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

/** So many runs are spent on making one story short. */
const mostRuns = 200;

/** Takes away what a failure does not need, as long as the same invariant still breaks. */
export async function shrink(scenario: Scenario, rule: string): Promise<Scenario> {
  let best = scenario;
  let runs = 0;
  const still = async (candidate: Scenario): Promise<boolean> => {
    if (runs >= mostRuns) return false;
    runs++;
    const { violation, endedAtDay } = await simulate(candidate, { notified: false });
    if (violation?.rule !== rule) return false;
    // Everything that lies after the failure is not part of it, as long as the end is not what failed.
    const days = Math.min(candidate.days, Math.max(1, Math.ceil(endedAtDay)));
    best = days < candidate.days ? { ...candidate, days } : candidate;
    return true;
  };
  for (let before = Number.POSITIVE_INFINITY; sizeOf(best) < before && runs < mostRuns; ) {
    before = sizeOf(best);
    await still({ ...best, noise: 0 });
    await still({ ...best, storage: 'memory' });
    await dropParts(
      () => best.events,
      (events) => still({ ...best, events }),
    );
    await dropParts(
      () => best.weather,
      (weather) => still({ ...best, weather }),
    );
    await dropParts(
      () => best.channelWeather,
      (channelWeather) => still({ ...best, channelWeather }),
    );
    for (const part of ['accounts', 'rules', 'routes', 'silences', 'reports', 'channels'] as const) {
      await dropParts(
        () => best.settings[part] as readonly unknown[],
        (kept) => still(keepIn(best, part, kept)),
      );
    }
  }
  return best;
}

function sizeOf(scenario: Scenario): number {
  const { settings, events, weather, channelWeather, days } = scenario;
  const lists = [settings.accounts, settings.rules, settings.routes, settings.silences, settings.reports];
  return lists.reduce(
    (sum, list) => sum + list.length,
    days + events.length + weather.length + channelWeather.length,
  );
}

/** Halves, quarters and single ones are tried to be left out. */
async function dropParts<T>(
  current: () => readonly T[],
  still: (kept: readonly T[]) => Promise<boolean>,
): Promise<void> {
  for (let size = current().length; size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < current().length; ) {
      const list = current();
      const kept = [...list.slice(0, start), ...list.slice(start + size)];
      if (!(await still(kept))) start += size;
    }
  }
}

/** The same cut in the configuration at the start and in every edit of it. */
function keepIn(scenario: Scenario, part: keyof Settings, kept: readonly unknown[]): Scenario {
  const names = new Set(kept.map(nameOf));
  const cut = (settings: Settings): Settings => {
    const list = settings[part] as readonly unknown[];
    const next: Settings = { ...settings, [part]: list.filter((it) => names.has(nameOf(it))) };
    if (part !== 'channels') return next;
    const known = next.channels.map((channel) => channel.name);
    const among = (channels: readonly string[]): string[] => channels.filter((name) => known.includes(name));
    return {
      ...next,
      reports: next.reports.map((it) => ({ ...it, channels: among(it.channels) })),
      routes: next.routes
        .map((it) => ({
          ...it,
          channels: among(it.channels),
          escalate: it.escalate && { ...it.escalate, channels: among(it.escalate.channels) },
        }))
        .filter((it) => it.channels.length > 0),
    };
  };
  const events = scenario.events.map((it) =>
    it.kind === 'reload' ? { ...it, settings: cut(it.settings) } : it,
  );
  return { ...scenario, settings: cut(scenario.settings), events };
}

function nameOf(it: unknown): string {
  if (typeof it === 'object' && it !== null) {
    if ('id' in it) return String(it.id);
    if ('name' in it) return String(it.name);
  }
  return JSON.stringify(it);
}
