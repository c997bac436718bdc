// Text typed in a form whose session had ended stands there again after the sign-in. This tab keeps it for the next page alone.

const key = 'lowwater-typed';
/** Browsers that keep no cookies throw at whoever asks for it. */
const forTab = navigator.cookieEnabled ? sessionStorage : null;

addEventListener('pagehide', () => {
  const typed = fields()
    .filter(isTyped)
    .map((field) => [placeOf(field), field.value]);
  if (typed.length > 0) forTab?.setItem(key, JSON.stringify([location.pathname, typed]));
});

const [path, typed] = JSON.parse(forTab?.getItem(key) ?? '[]');
forTab?.removeItem(key);
if (path === location.pathname && URL.parse(document.referrer)?.pathname === '/sign-in') {
  const values = new Map(typed);
  for (const field of fields().filter((each) => values.has(placeOf(each)))) {
    field.value = values.get(placeOf(field));
    field.closest('details')?.setAttribute('open', '');
  }
}

function fields() {
  const typedIn = ':is(input:not([type=hidden], [type=checkbox]), select)';
  return [...document.querySelectorAll(`main form[method=post] ${typedIn}`)];
}

function placeOf(field) {
  const { live } = field.closest('[data-live]')?.dataset ?? {};
  return [
    live,
    field.closest('[data-key]')?.dataset.key,
    field.form.getAttribute('action'),
    field.name,
  ].join();
}

function isTyped(field) {
  const chosen = [...(field.options ?? [])].findIndex((option) => option.defaultSelected);
  return field.matches('select')
    ? field.selectedIndex !== Math.max(0, chosen)
    : field.value !== field.defaultValue;
}
