import { onStorageError } from '../../domain/operator-error.ts';
import { matches, wordMatcher, wordMismatch } from '../../domain/rule.ts';
import type { Settings } from '../../domain/settings.ts';
import { severities } from '../../domain/severity.ts';
import { formatDuration, isoText } from '../../domain/time.ts';
import type { ChannelPlan } from '../../engine/decide.ts';
import { type Backend, operatorCommand } from '../backend.ts';
import { type Command, CommandError, exitCodes, jsonOption, UsageError } from '../command.ts';
import { namedServer } from '../daemon/find-daemon.ts';
import { loadForOperator } from '../load-configuration.ts';
import { readChoice, readMoment, requireKnown } from '../read-options.ts';
import { printJson } from '../terminal/output.ts';
import { formatInstant } from '../terminal/text.ts';

export const routesCommand: Command = operatorCommand({
  name: 'routes',
  summary: 'where an alert would go, when it is repeated and escalated, what mutes it, and why',
  details: `By the routes and silences of the configuration, which --config names beside --server, and the silences that people made. Sends nothing:
test-alert does.

--json prints {"account","rule","severity","at","routes":[{"route","match","taken","why"}],"channels":[{"channel","atOnce","groupWait",
"repeatEvery","escalateAfter"}],"silences":[{"match","until","by","comment"}]}; silences is null where those of people are not known.`,
  positionals: [
    { name: 'ACCOUNT', summary: 'the account', completes: 'accounts' },
    { name: 'RULE', summary: 'the rule, built-in ones too', completes: 'rules' },
  ],
  options: {
    severity: {
      value: 'SEVERITY',
      summary: `${severities.join(', ')}; default: the worst that the rule reaches`,
      completes: 'severities',
    },
    at: { value: 'TIME', summary: 'such as 2026-11-26T03:00; default now' },
    json: jsonOption,
  },
  examples: ['lowwater routes otp sms-low --severity warning --at 2026-11-29T03:00'],
  async run(context, input, backend) {
    const { timezone } = backend;
    if (input.option('config') === null && namedServer(context, input) !== null)
      throw new UsageError('routes are read from a configuration: name it by --config');
    const settings = backend.settings ?? (await loadForOperator(context, input)).settings;
    const id = requireKnown('account', backend.names.accounts, input.positional('ACCOUNT'));
    const account = settings.accounts.find((candidate) => candidate.id === id);
    if (account === undefined) throw new CommandError(`the configuration has no account "${id}"`);
    const { planChannels, routesFor } = await import('../../engine/decide.ts');
    const { rulesForAccount } = await import('../../rules/rules-for-account.ts');
    const rules = rulesForAccount(settings, account);
    const known = rules.map((each) => each.id);
    const ruleId = requireKnown('rule of this account', known, input.positional('RULE'));
    const rule = rules.find((each) => each.id === ruleId);
    if (rule === undefined) throw new TypeError('a known rule');
    const severity = readChoice(input, 'severity', severities) ?? rule.severity;
    const at = readMoment(input, 'at', timezone) ?? context.clock.now();
    const { labels, provider, currency } = account;
    const routed = { account: id, labels, provider, currency, severity };
    const alert = { ...routed, rule: ruleId, type: rule.type, notified: {} };
    const subject = { ...routed, rules: [ruleId] };
    const channels = settings.channels.map(({ name }) => name);
    const taken = routesFor(alert, settings.routes, channels);
    const routes = settings.routes.map((route, index) => {
      const isTaken = taken.includes(route);
      const asked = wordMismatch(route.match, subject);
      const why = asked.length > 0 ? `asks for ${asked.join(', ')}` : 'an earlier route took it';
      return { route: index + 1, match: wordMatcher(route.match), taken: isTaken, why: isTaken ? null : why };
    });
    const plans = planChannels(alert, settings.routes, channels);
    const silences = await silencesAt(backend, settings, { subject, at });
    if (input.flag('json')) {
      const said = { account: id, rule: ruleId, severity, at: isoText(at), routes };
      await printJson(context, { ...said, channels: plans.map(planJson), silences });
      return exitCodes.ok;
    }
    const none = taken.every((route) => !settings.routes.includes(route));
    const lines = [
      `${id} ${ruleId}, ${severity}, at ${formatInstant(at, timezone)} (${timezone}):`,
      ...routes.map(
        ({ route, match, why }) =>
          `  route ${route} (${match}): ${why === null ? 'taken' : `not taken: ${why}`}`,
      ),
      ...(none ? ['  no route takes it: it goes to every channel'] : []),
      ...plans.map((plan) => `  ${plan.channel}: ${wordPlan(plan)}`),
      ...(silences ?? []).map(({ match, until, by, comment }) => {
        const why = comment === '' ? '' : `: ${comment}`;
        return `  muted until ${formatInstant(Date.parse(until), timezone)} by ${by} (${match})${why}`;
      }),
      ...(silences?.length === 0 ? ['  no silence holds then'] : []),
      ...(silences === null
        ? ['  silences of people are not known: neither daemon nor database answers']
        : []),
    ];
    await context.stdout.write(`${lines.join('\n')}\n`);
    return exitCodes.ok;
  },
});

/** The silences that mute it then, of the configuration and of people; null if they are unknown. */
async function silencesAt(
  backend: Backend,
  settings: Settings,
  { subject, at }: { readonly subject: Parameters<typeof matches>[1]; readonly at: number },
) {
  const { cronCalendar } = await import('../../system/calendar.ts');
  const { windowsBetween } = await import('../../engine/silencing.ts');
  const own = settings.silences.flatMap(({ match, comment, ...silence }) =>
    windowsBetween(cronCalendar, { match, comment, ...silence }, { since: at, until: at + 1 }).map(
      ({ startsAt, endsAt }) => ({ match, startsAt, endsAt, by: 'configuration', comment }),
    ),
  );
  const made = await backend
    .views()
    .then((views) => views.silences())
    .catch(onStorageError(null));
  if (made === null) return null;
  return [...own, ...made.filter(({ id }) => id !== null)]
    .filter(({ match, startsAt, endsAt }) => matches(match, subject) && startsAt <= at && at < endsAt)
    .map(({ match, endsAt, by, comment }) => ({
      match: wordMatcher(match),
      until: isoText(endsAt),
      by,
      comment,
    }));
}

function planJson({ channel, direct, groupWaitMs, repeatEveryMs, escalateAfterMs }: ChannelPlan) {
  const known = (ms: number | null) => (ms === null || !Number.isFinite(ms) ? null : formatDuration(ms));
  return {
    channel,
    atOnce: direct,
    groupWait: formatDuration(groupWaitMs),
    repeatEvery: known(repeatEveryMs),
    escalateAfter: known(escalateAfterMs),
  };
}

function wordPlan(plan: ChannelPlan): string {
  const { atOnce, groupWait, repeatEvery, escalateAfter } = planJson(plan);
  return [
    ...(atOnce ? [`at once, with what comes within ${groupWait}`] : []),
    ...(escalateAfter === null ? [] : [`escalated after ${escalateAfter} unless somebody takes it`]),
    repeatEvery === null ? 'not repeated' : `repeated every ${repeatEvery}`,
  ].join('; ');
}
