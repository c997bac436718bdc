import type { Tone } from '../../messages/item-wording.ts';
import { Html, html } from '../../wording/html.ts';
import type { Reader } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';

const says = phrases('mailPage', {
  sentBy: 'Sent by lowwater, which watches prepaid balances. Replies are not read.',
  whatToDo: 'WHAT TO DO',
});

/** The last line of every mail, in both of its parts. */
export const sayFooter = (reader: Reader): string => say(says.sentBy, reader);

/** Colours of a tone, on light: every pair of text and ground keeps a contrast of at least 4.5 to 1. */
const palette: Readonly<Record<Tone, { readonly strong: string; readonly soft: string }>> = {
  critical: { strong: '#b42318', soft: '#fef3f2' },
  warning: { strong: '#a54b00', soft: '#fff6e9' },
  info: { strong: '#1f5fae', soft: '#eff5fd' },
  good: { strong: '#13703a', soft: '#ecf8f0' },
  neutral: { strong: '#4b5563', soft: '#f3f4f6' },
};

const fontStack = "-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/**
 * Dark colours for programs that know the preference. Programs that invert colours by themselves find plain backgrounds and texts that
 * survive that. The rules need `!important` because the light colours stand inline, where every program reads them.
 */
const darkStyle = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; padding: 0; }
a { text-decoration: none; }
@media (max-width: 480px) {
  .pad { padding-left: 16px !important; padding-right: 16px !important; }
  .label { width: 96px !important; }
}
@media (prefers-color-scheme: dark) {
  .page { background: #0f1318 !important; }
  .card { background: #1b2129 !important; border-left-color: #303842 !important; border-right-color: #303842 !important; border-bottom-color: #303842 !important; }
  .ink { color: #f0f3f6 !important; }
  .dim { color: #a7b0bb !important; }
  .line { border-color: #303842 !important; }
  .soft { background: #242c36 !important; }
  .ghost { background: #1b2129 !important; border-color: #5b6673 !important; color: #f0f3f6 !important; }
}
`;

/** A mail: one column of at most 600 pixels, of tables for Outlook, readable from 360. A phone shows `preview` next to the subject. */
export function emailPage(title: string, preview: string, cards: readonly Html[], reader: Reader): string {
  const page = html`<!doctype html>
<html lang="${reader.language.id}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>${new Html(darkStyle)}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#eef0f3;">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all;">${preview}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="page" style="background:#eef0f3;"><tr><td align="center" style="padding:12px 8px;">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;">
${cards}<tr><td class="pad dim" style="padding:4px 24px 16px 24px;font-family:${fontStack};font-size:12px;line-height:1.5;color:#5a6470;overflow-wrap:anywhere;">${sayFooter(reader)}</td></tr>

</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</body>
</html>
`;
  return page.markup;
}

/** A row of the column that holds one card with a bar in the colour of its tone. */
export function card(tone: Tone, content: readonly Html[]): Html {
  return html`<tr><td style="padding:0 0 12px 0;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="card" style="background:#ffffff;border:1px solid #d8dde3;border-top:5px solid ${palette[tone].strong};border-radius:8px;">
${content}<tr><td style="padding:0 0 18px 0;font-size:0;line-height:0;">&nbsp;</td></tr>

</table>
</td></tr>
`;
}

export function cardTitle(tone: Tone, word: string, title: string, level: 'main' | 'sub'): Html {
  const size = level === 'main' ? '20px' : '16px';
  return html`<tr><td class="pad" style="padding:18px 24px 0 24px;font-family:${fontStack};">
<span style="display:inline-block;background:${palette[tone].strong};color:#ffffff;font-size:12px;line-height:16px;font-weight:700;letter-spacing:0.4px;padding:3px 9px;border-radius:10px;">${word}</span>
<h1 class="ink" style="margin:10px 0 0 0;font-size:${size};line-height:1.3;font-weight:700;color:#14181d;overflow-wrap:anywhere;">${title}</h1>
</td></tr>
`;
}

export function paragraph(text: string, style: 'ink' | 'dim' = 'ink'): Html {
  const look = style === 'ink' ? 'font-size:15px;color:#2b323a;' : 'font-size:13px;color:#5a6470;';
  return html`<tr><td class="pad ${style}" style="padding:8px 24px 0 24px;font-family:${fontStack};${look}line-height:1.5;overflow-wrap:anywhere;">${text}</td></tr>
`;
}

/** Numbers with their names; the first is what the mail is about. */
export function figureTable(figures: readonly { readonly label: string; readonly value: string }[]): Html {
  if (figures.length === 0) return html``;
  const rows = figures.map(({ label, value }, index) => {
    const look = index === 0 ? 'font-size:17px;font-weight:700;' : 'font-size:15px;';
    return html`<tr><td class="label dim line" width="120" style="width:120px;padding:7px 10px 7px 0;border-top:1px solid #e6e9ed;font-size:13px;color:#5a6470;vertical-align:top;line-height:1.5;">${label}</td><td class="ink line" style="padding:7px 0;border-top:1px solid #e6e9ed;${look}color:#14181d;vertical-align:top;line-height:1.4;overflow-wrap:anywhere;">${value}</td></tr>
`;
  });
  return html`<tr><td class="pad" style="padding:14px 24px 0 24px;"><table width="100%" cellpadding="0" cellspacing="0" border="0" style="font-family:${fontStack};">
${rows}</table></td></tr>
`;
}

/** Chinese may break between any two characters: a narrow column would have one character a line. */
const whole = 'overflow-wrap:break-word;word-break:keep-all;';

/** Rows of three: what, how much, how long. */
export function overviewTable(titles: readonly string[], rows: readonly (readonly string[])[]): Html {
  if (rows.length === 0) return html``;
  const head = titles.map(
    (title, index) =>
      html`<th class="dim" align="${index === 0 ? 'left' : 'right'}" style="padding:6px 0 6px ${index === 0 ? '0' : '10px'};font-size:12px;font-weight:600;color:#5a6470;${index === 0 ? '' : whole}">${title}</th>`,
  );
  const lines = rows.map((cells) => {
    const row = cells.map(
      (cell, index) =>
        html`<td class="ink line" align="${index === 0 ? 'left' : 'right'}" style="padding:7px 0 7px ${index === 0 ? '0' : '10px'};border-top:1px solid #e6e9ed;font-size:14px;line-height:1.4;color:#14181d;vertical-align:top;${index === 0 ? 'overflow-wrap:anywhere' : whole}">${cell}</td>`,
    );
    return html`<tr>${row}</tr>
`;
  });
  return html`<tr><td class="pad" style="padding:14px 24px 4px 24px;"><table width="100%" cellpadding="0" cellspacing="0" border="0" style="font-family:${fontStack};">
<tr>${head}</tr>
${lines}</table></td></tr>
`;
}

type Links = readonly { readonly label: string; readonly url: string }[];

/** The next step, with the links to do it: on the first screen of a phone. */
export function adviceBox(tone: Tone, advice: readonly string[], reader: Reader, links: Links = []): Html {
  if (advice.length === 0) return html``;
  const lines = advice.map(
    (
      sentence,
    ) => html`<p class="ink" style="margin:4px 0 0 0;font-size:15px;line-height:1.5;color:#14181d;">${sentence}</p>
`,
  );
  const actions = links.length === 0 ? '' : html`<div style="padding:12px 0 0 0;">${links.map(button)}</div>`;
  return html`<tr><td class="pad" style="padding:14px 24px 0 24px;"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td class="soft" style="background:${palette[tone].soft};border-left:4px solid ${palette[tone].strong};padding:10px 14px;font-family:${fontStack};overflow-wrap:anywhere;"><span class="dim" style="font-size:12px;line-height:16px;font-weight:700;color:#5a6470;">${say(says.whatToDo, reader)}</span>
${lines}${actions}</td></tr></table></td></tr>
`;
}

export function chartImage(chart: { readonly cid: string; readonly alt: string } | undefined): Html {
  if (chart === undefined) return html``;
  const { cid, alt } = chart;
  return html`<tr><td class="pad" style="padding:16px 24px 0 24px;"><img src="cid:${cid}" alt="${alt}" width="550" style="display:block;width:100%;max-width:550px;height:auto;border:0;border-radius:6px;font-family:${fontStack};font-size:13px;line-height:1.5;color:#5a6470;"></td></tr>
`;
}

/** Links as buttons; the first is the one that matters. */
export function buttons(links: Links): Html {
  if (links.length === 0) return html``;
  return html`<tr><td class="pad" style="padding:18px 24px 0 24px;font-family:${fontStack};">${links.map(button)}</td></tr>
`;
}

function button({ label, url }: Links[number], index: number): Html {
  const main = index === 0;
  const look = main
    ? 'background:#1f4e8c;border:1px solid #1f4e8c;color:#ffffff;'
    : 'background:#ffffff;border:1px solid #9aa4b0;color:#14181d;';
  return html`<a href="${url}" class="${main ? 'solid' : 'ghost'}" style="display:inline-block;margin:0 8px 8px 0;padding:11px 18px;border-radius:6px;${look}font-size:15px;line-height:20px;font-weight:600;text-decoration:none;">${label}</a>
`;
}

/** Buttons of the mail as a whole, below its cards. */
export function buttonRow(links: Links): Html {
  if (links.length === 0) return html``;
  return html`<tr><td style="padding:0 0 12px 0;"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${buttons(links)}</table></td></tr>
`;
}

/** The number of alerts of a mail about several. */
export function groupTitle(tally: string): Html {
  return html`<tr><td class="pad ink" style="padding:6px 24px 14px 24px;font-family:Helvetica,Arial,sans-serif;font-size:15px;line-height:1.4;font-weight:700;color:#14181d;overflow-wrap:anywhere;">${tally}</td></tr>
`;
}
