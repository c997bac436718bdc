import type { Notice } from '../domain/message.ts';
import { formatAmount } from '../domain/money.ts';
import type { OutcomeKind } from '../domain/outcome.ts';
import { formatPayable, type WordingFrame } from '../wording/quantity-wording.ts';
import { currentMicros, refusedRecipients } from './notice-headline.ts';
import { stateOf } from './notice-state.ts';

/** What to do next, as whole sentences; none when there is nothing to do. */
export function wordAdvice(notice: Notice, frame: WordingFrame): readonly string[] {
  const state = stateOf(notice);
  if (state === 'resolved' || state === 'closed') return [];
  switch (notice.type) {
    case 'below':
    case 'negative':
    case 'runway':
      return topUpAdvice(notice, frame);
    case 'drop':
      return [
        'Find out what is sending more than usual. If it is not yours, replace the access key.',
        ...topUpIfKnown(notice, frame),
      ];
    case 'idle':
      return [
        'Check that what sends through this account is running: a balance in use does not stand still.',
      ];
    case 'top-up':
      return [];
    case 'currency':
      return [
        'Ask the provider why the currency changed. Until it is as expected, rules about money give no verdict for this account. If the change is right, set "currency" of the account in the configuration.',
      ];
    case 'auth-failed':
      return [
        'Create a new access key in the provider’s dashboard (security, access keys), put it where the configuration takes "authSecret" from, and reload lowwater (SIGHUP). Until then nobody watches this balance.',
      ];
    case 'stale':
      return [staleAdvice(notice.account?.outcome ?? null, notice.account?.failure ?? '')];
    case 'provider-down':
      return [
        'Look at the provider’s status page and at the network of this host. Balance alerts keep their state until readings are back.',
      ];
    case 'storage-failed':
      return [
        'Free space on the disk of the database, or make it writable. Until then lowwater goes on from memory, and a restart would forget what was not stored.',
      ];
    case 'channel-failed':
      return [channelAdvice(notice)];
    case 'config-invalid':
      return [
        'Run "lowwater validate": it names each error with its line. The running configuration stays until then.',
      ];
  }
}

function channelAdvice(notice: Notice): string {
  return refusedRecipients(notice) === null
    ? 'Fix the channel in the configuration and try it with "lowwater test-channel". Alerts that are still open are sent to it again then.'
    : 'Correct or remove what is refused in "to" of the channel, and try it with "lowwater test-channel".';
}

function topUpAdvice(notice: Notice, frame: WordingFrame): readonly string[] {
  const known = topUpIfKnown(notice, frame);
  if (known.length > 0) return known;
  const restore = notice.account?.outlook?.restoreMicros ?? null;
  if (restore === 0)
    return ['At the present pace the balance lasts more than 30 days: check that nothing unusual is ahead.'];
  const current = currentMicros(notice);
  const target = notice.threshold?.unit === 'money' ? notice.threshold.micros : 0;
  const gap = current === null ? 0 : target - current;
  const unknown = 'How much lasts 30 days cannot be said yet: spending was watched for too short a time.';
  return gap > 0
    ? [
        `Top up ${formatAmount(gap, frame.currency)} or more to be back at ${formatAmount(target, frame.currency)}. ${unknown}`,
      ]
    : [unknown];
}

function topUpIfKnown(notice: Notice, frame: WordingFrame): readonly string[] {
  const restore = notice.account?.outlook?.restoreMicros ?? null;
  if (restore === null || restore <= 0) return [];
  return [`Top up ${formatPayable(restore, frame.currency)} to have 30 days again at the present pace.`];
}

function staleAdvice(outcome: OutcomeKind | null, failure: string): string {
  switch (outcome) {
    case 'auth_failed':
      return 'Replace the access key: the provider refuses the present one.';
    case 'rate_limited':
      return 'The provider limits the rate of requests. See what else uses this key, or poll less often ("poll.every"); lowwater backs off by itself.';
    case 'timeout':
      return 'The provider does not answer in time. Look at its status page and at the network of this host; a longer "provider.timeout" helps when it is merely slow.';
    case 'network_error':
      return networkAdvice(failure);
    case 'http_error':
    case 'api_error':
      return 'The provider answers with errors. Look at its status page, and give its support the reason above.';
    case 'invalid_response':
      return 'The provider answers, but not as its interface says. Check that "baseUrl" is its address and not that of a proxy or a sign-in page.';
    case 'ok':
    case null:
      return 'Check that lowwater is running and that the poll schedule of this account is as intended.';
  }
}

function networkAdvice(failure: string): string {
  if (/certificate|TLS|SSL/i.test(failure)) {
    return 'The secure connection fails. Check the clock of this host and the provider’s certificate; a private authority comes by NODE_EXTRA_CA_CERTS.';
  }
  if (/DNS|name|resolve/i.test(failure))
    return 'The provider’s host name is not found. Check "baseUrl" and the name servers of this host.';
  if (/refused/i.test(failure))
    return 'The provider’s host refuses connections. Check "baseUrl", firewalls, and the provider’s status page.';
  return 'The connection to the provider fails. Check the network and proxy settings of this host, and the provider’s status page.';
}
