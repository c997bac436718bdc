import { getCookie } from 'hono/cookie';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import type { WebContext } from '../web-env.ts';
import { keepCookie } from './cookies.ts';
import { hidden, options } from './forms.ts';
import { live } from './live.ts';
import { common, type Frame, pages } from './words.ts';

const cookieName = 'lowwater_zone';

const says = phrases('zone', {
  shown: 'times in {zone}',
  showConfigured: 'Show {zone}, as configured',
  change: 'Change',
  lead: 'Times of the pages, in this browser. Messages and reports keep to {zone}, as configured.',
  choose: 'Show times in',
  configured: '{zone}, as configured',
});

/** The zones by their exact names: each other spelling would need a formatter of its own. */
export const zones: ReadonlySet<string> = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);

/** The zone with a name, under the name used here: browsers may use a newer or an older one. Null if there is no such zone. */
function zoneNamed(name: string): string | null {
  if (zones.has(name)) return name;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return zones.has(timeZone) ? timeZone : null;
  } catch {
    return null;
  }
}

/** The zone that this browser is shown times in: its own choice, else the configured one. */
export function zoneOf(context: WebContext, configured: string): string {
  return zoneNamed(getCookie(context, cookieName) ?? '') ?? configured;
}

/** Keeps a zone for this browser. Any other word resets it to the configured one. */
export function keepZone(context: WebContext, zone: string): void {
  keepCookie(context, cookieName, zoneNamed(zone) ?? '');
}

/** The zone in which the times of a form were typed: that of its page, even if the browser has chosen another since. */
export function zoneOfForm(form: URLSearchParams, { timezone }: Pick<Frame, 'timezone'>): string {
  return zoneNamed(form.get('zone') ?? '') ?? timezone;
}

/** In the footer of every page: the zone, the way back to the configured one, and one click to the reader's own, which its script knows. */
export function zoneForm(frame: Frame, configured: string, back: string): Html {
  const shown = frame.timezone;
  return html`<form class="zone" method="post" action="/time-zone"><input type="hidden" name="back" value="${back}">${sayHtml(says.shown, { zone: live('zone', shown, { tag: 'span' }) }, frame)} <button class="quiet" name="zone" id="own-zone" data-shown="${shown}" hidden></button>${
    shown !== configured &&
    html`<button class="quiet" name="zone" value="">${say(says.showConfigured, { zone: configured }, frame)}</button>`
  } <a href="/time-zone?${new URLSearchParams({ back }).toString()}">${say(says.change, frame)}</a></form>`;
}

/** The form in which a reader chooses the zone. Only the browser keeps it: the configuration, and what others see, stay. */
export function renderTimeZone(chosen: string, configured: string, back: string, frame: Frame): Html {
  const others = [...zones].map((zone) => [zone, zone] as const);
  return html`<section class="panel narrow"><h1>${say(pages.timeZone, frame)}</h1>
<p>${say(says.lead, { zone: configured }, frame)}</p>
<form method="post" action="/time-zone">${hidden('back', back)}
<label>${say(says.choose, frame)} <select name="zone">${options([['', say(says.configured, { zone: configured }, frame)], ...others], chosen)}</select></label>
<button>${say(common.show, frame)}</button></form></section>`;
}
