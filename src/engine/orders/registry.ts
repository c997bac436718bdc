import type { Refusal } from '../../domain/operator.ts';
import { acknowledge, unacknowledge } from './acknowledge.ts';
import { endSession, renewCalendarKey } from './end-session.ts';
import { expectSpending } from './expect-spending.ts';
import { cancelExpected, expectTopUp } from './expect-top-up.ts';
import { handOver } from './hand-over.ts';
import type { OrderKind, OrderOf } from './kind.ts';
import { poll } from './poll.ts';
import { report } from './report.ts';
import { expireSilence, extendSilence, silence } from './silence.ts';
import { testAlert } from './test-alert.ts';

/** Every act that a person may order. */
export const orderKinds = [
  acknowledge,
  unacknowledge,
  silence,
  extendSilence,
  expireSilence,
  expectTopUp,
  cancelExpected,
  expectSpending,
  poll,
  report,
  testAlert,
  handOver,
  endSession,
  renewCalendarKey,
] as const;

type AnyKind = (typeof orderKinds)[number];
export type OrderName = AnyKind['kind'];
type KindOf<Name extends OrderName> = Extract<AnyKind, { readonly kind: Name }>;

type OrdersByKind = {
  readonly [Name in OrderName]: KindOf<Name> extends OrderKind<Name, infer Shape, infer _>
    ? OrderOf<Name, Shape>
    : never;
};

export type OperatorOrder<Name extends OrderName = OrderName> = OrdersByKind[Name];

/** The result that is shown to the person who ordered it. */
export type Done<Name extends OrderName> = Exclude<ReturnType<KindOf<Name>['apply']>, Refusal>;
