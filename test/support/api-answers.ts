import type { RunningDaemon } from './run-daemon.ts';

/** Answers of the API, as far as tests read them. The casts are what the OpenAPI document promises. */
export interface ApiAccount {
  readonly id: string;
  readonly outcome: string | null;
  readonly failure: string | null;
  readonly polledAt: string | null;
  readonly readAt: string | null;
  readonly currency: string | null;
  readonly balances: { readonly sms: string | null; readonly voip: string | null };
  readonly consecutiveFailures: number;
  readonly backoffUntil: string | null;
}

export interface ApiAlert {
  readonly account: string;
  readonly rule: string;
  readonly type: string;
  readonly state: string;
  readonly severity: string;
  readonly incident: string | null;
  readonly value: string | number | null;
  readonly acknowledged: { readonly by: string; readonly comment: string } | null;
  readonly silenced: boolean;
}

export interface ApiNotification {
  readonly id: string;
  readonly channel: string;
  readonly kind: string | null;
  readonly state: string;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly alerts: readonly { readonly account: string; readonly rule: string; readonly kind: string }[];
}

export interface ApiIncident {
  readonly id: string;
  readonly account: string;
  readonly rule: string;
  readonly resolvedAt: string | null;
}

export async function accountsOf(daemon: RunningDaemon): Promise<readonly ApiAccount[]> {
  const body = (await daemon.get('/api/v1/accounts')) as { readonly accounts: readonly ApiAccount[] };
  return body.accounts;
}

export async function accountOf(daemon: RunningDaemon, id = 'otp'): Promise<ApiAccount> {
  const account = (await accountsOf(daemon)).find((one) => one.id === id);
  if (account === undefined) throw new Error(`the API knows no account ${id}`);
  return account;
}

/** The times of the polls of the last hour, in milliseconds, the oldest first. */
export async function pollTimesOf(daemon: RunningDaemon, id: string): Promise<readonly number[]> {
  const body = (await daemon.get(`/api/v1/accounts/${id}/polls?since=1h`)) as {
    readonly polls: readonly { readonly at: string }[];
  };
  return body.polls.map(({ at }) => Date.parse(at)).toSorted((one, other) => one - other);
}

export async function alertsOf(daemon: RunningDaemon, all = false): Promise<readonly ApiAlert[]> {
  const body = (await daemon.get(`/api/v1/alerts${all ? '?all=true' : ''}`)) as {
    readonly alerts: readonly ApiAlert[];
  };
  return body.alerts;
}

export async function notificationsOf(daemon: RunningDaemon): Promise<readonly ApiNotification[]> {
  const body = (await daemon.get('/api/v1/notifications')) as {
    readonly notifications: readonly ApiNotification[];
  };
  return body.notifications;
}

export async function incidentsOf(daemon: RunningDaemon): Promise<readonly ApiIncident[]> {
  const body = (await daemon.get('/api/v1/incidents')) as { readonly incidents: readonly ApiIncident[] };
  return body.incidents;
}
