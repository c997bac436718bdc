import { html } from '../../wording/html.ts';
import type { WebApp } from '../web-env.ts';
import { options, readForm, readOwnPath, sendBack } from './forms.ts';
import { type PageOptions, show } from './show.ts';
import { keepZone, zoneOf, zones } from './time-zone.ts';

/** Where a reader chooses the zone. Kept by the browser: the configuration, and what others see, stays. */
export function addTimeZoneRoutes(app: WebApp, pages: PageOptions): void {
  app.get('/time-zone', (context) => {
    const back = readOwnPath(context.req.query('back'));
    const others = [...zones].map((zone) => [zone, zone] as const);
    const content = html`<section class="panel narrow"><h1>Time zone</h1>
<p>Times of the pages, in this browser. Messages and reports keep to ${pages.timezone}, as configured.</p>
<form method="post" action="/time-zone"><input type="hidden" name="back" value="${back}">
<label>Show times in <select name="zone">${options([['', `${pages.timezone}, as configured`], ...others], zoneOf(context, ''))}</select></label>
<button>Show</button></form></section>`;
    return show(pages, context, { title: 'Time zone · lowwater', content, scripts: ['live.js'] });
  });
  app.post('/time-zone', async (context) => {
    const form = await readForm(context);
    keepZone(context, form.get('zone') ?? '');
    return sendBack(context, form, 'zone');
  });
}
