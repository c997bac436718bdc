import type { LiveViews } from '../views/views.ts';

/** Views that are others from one moment to the next: of a daemon that owns the accounts, and of one that stands by. */
export function switchViews(current: () => LiveViews): LiveViews & { readonly switched: () => void } {
  const subscribers = new Map<() => void, () => void>();
  const endedSessions = new Set<string>();
  return {
    accounts: (ids) => current().accounts(ids),
    accountIds: () => current().accountIds(),
    choices: () => current().choices(),
    counts: () => current().counts(),
    account: (id) => current().account(id),
    readings: (account, since, until) => current().readings(account, since, until),
    polls: (account, since, until) => current().polls(account, since, until),
    alerts: (query) => current().alerts(query),
    alert: (account, rule) => current().alert(account, rule),
    firing: () => current().firing(),
    incidents: (query) => current().incidents(query),
    explain: (account) => current().explain(account),
    notifications: (limit, before) => current().notifications(limit, before),
    audit: (query) => current().audit(query),
    recordAction: (entry) => current().recordAction(entry),
    channels: () => current().channels(),
    silenced: (query) => current().silenced(query),
    weekAgo: (account, balance) => current().weekAgo(account, balance),
    silences: () => current().silences(),
    wouldMute: (order) => current().wouldMute(order),
    acknowledge: (order) => current().acknowledge(order),
    acknowledgeAll: (order) => current().acknowledgeAll(order),
    unacknowledge: (alert) => current().unacknowledge(alert),
    silence: (order) => current().silence(order),
    expireSilence: (id) => current().expireSilence(id),
    extendSilence: (order) => current().extendSilence(order),
    pollNow: (account) => current().pollNow(account),
    async endSession(session) {
      endedSessions.add(session.id);
      await current().endSession(session);
    },
    isSessionEnded: (id) => endedSessions.has(id) || current().isSessionEnded(id),
    linkKeys: () => current().linkKeys(),
    status: () => current().status(),
    get counters() {
      return current().counters;
    },
    subscribe(changed) {
      subscribers.set(changed, current().subscribe(changed));
      return () => {
        subscribers.get(changed)?.();
        subscribers.delete(changed);
      };
    },
    /** To be called after `current` gives others: whoever watches is told, and by them from now on. */
    switched() {
      for (const [changed, leave] of [...subscribers]) {
        leave();
        subscribers.set(changed, current().subscribe(changed));
        changed();
      }
    },
  };
}
