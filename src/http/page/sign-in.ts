import { type Html, html } from '../html.ts';

/** Where people give the token. `problem` says why the last try failed. */
export function renderSignIn(next: string, problem: string | null): Html {
  return html`<section class="panel narrow"><h1>Sign in</h1>
${problem !== null && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/sign-in"><input type="hidden" name="next" value="${next}">
<input class="hidden" type="text" name="username" value="lowwater" autocomplete="username" tabindex="-1" aria-hidden="true">
<label>Token <input type="password" name="token" required autocomplete="current-password" autofocus></label>
<button>Sign in</button></form>
<p class="soft">The token is <code>server.token</code> of the configuration.</p></section>`;
}
