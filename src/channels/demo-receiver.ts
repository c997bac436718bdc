/** What a receiver of the demo shows of a message. */
export interface ReceivedMessage {
  /** Where it arrived, such as "Slack #ops". */
  readonly title: string;
  readonly lines: readonly string[];
}

/** A receiver on this machine that hands on what it gets, for the demo. */
export interface DemoReceiver {
  listen(received: (message: ReceivedMessage) => void): Promise<ListeningReceiver>;
}

export interface ListeningReceiver {
  /** The channel that sends to it, as it would stand in a configuration. */
  readonly channel: object;
  close(): Promise<void>;
}
