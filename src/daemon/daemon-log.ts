import { alertKey } from '../domain/alert.ts';
import { wireId } from '../domain/outbox.ts';
import type { Outcome, OutcomeKind } from '../domain/reading.ts';
import type { Sent } from '../engine/delivery-ended.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import type { Log } from '../ports/log.ts';

/** Writes to the log: loudly when something changes, quietly while it repeats. */
export class DaemonLog {
  readonly #log: Log;
  readonly #outcomes = new Map<string, OutcomeKind>();
  readonly #alerts = new Map<string, string>();
  readonly #channelErrors = new Map<string, string>();
  #sawUnknownFields = false;

  constructor(log: Log) {
    this.#log = log;
  }

  pollEnded(account: WatchedAccount, outcome: Outcome): void {
    const { id } = account.settings;
    const before = this.#outcomes.get(id);
    const fields = { account: id, outcome: outcome.kind, ms: Math.round(outcome.durationMs) };
    if (before !== outcome.kind) this.#outcomes.set(id, outcome.kind);
    if (outcome.kind === 'ok') this.#noteUnknownFields(id, outcome.unknownFields ?? []);
    if (before === outcome.kind || (before === undefined && outcome.kind === 'ok'))
      this.#log.debug(fields, 'poll');
    else if (outcome.kind === 'ok') this.#log.info(fields, 'the balance can be read again');
    else
      this.#log.warn({ ...fields, reason: outcome.reason, code: outcome.code }, 'the balance cannot be read');
  }

  deliveryEnded({ message, delivery }: Sent): void {
    const fields = { channel: message.channel, message: wireId(message), attempts: message.attempts };
    const before = this.#channelErrors.get(message.channel);
    if (delivery.kind === 'delivered') {
      this.#channelErrors.delete(message.channel);
      this.#log.info({ ...fields, refused: delivery.refusedRecipients?.length }, 'message delivered');
      return;
    }
    this.#channelErrors.set(message.channel, delivery.reason);
    const detail = { ...fields, reason: delivery.reason };
    if (delivery.kind === 'needless') this.#log.info(detail, 'message dropped');
    else if (delivery.kind === 'dead') this.#log.error(detail, 'message refused for good');
    else if (before === delivery.reason) this.#log.debug(detail, 'message not delivered yet');
    else this.#log.warn(detail, 'message not delivered yet');
  }

  turnEnded(state: MonitorState): void {
    for (const alert of state.alerts.takeChanged()) {
      const key = alertKey(alert.account, alert.rule);
      const now = `${alert.state}/${alert.severity}`;
      const before = this.#alerts.get(key) ?? 'inactive/info';
      if (now === before) continue;
      this.#alerts.set(key, now);
      const { account, rule, severity } = alert;
      this.#log.info(
        { account, rule, severity, state: alert.state, incident: alert.incident },
        'alert changed',
      );
    }
  }

  #noteUnknownFields(account: string, fields: readonly string[]): void {
    if (this.#sawUnknownFields || fields.length === 0) return;
    this.#sawUnknownFields = true;
    this.#log.info({ account, fields }, 'the provider sends fields that lowwater does not know');
  }
}
