import { sentences } from '../wording/phrase.ts';

/** Why an answer of a provider gives no reading. */
export const answers = sentences('providerAnswer', {
  refused: 'the provider refuses the credentials: {said}',
  limited: 'rate limited: {said}',
  error: 'the provider reports an error: {said}',
  saysSo: '{path} says so (HTTP {status})',
  saying: '{reason}, "{message}"',
  redirect: 'HTTP {status}, a redirect; it is never followed',
  tooLarge: 'the answer is too large',
  compressed: 'the answer is compressed, which was not asked for',
  empty: 'the answer is empty',
  markup: 'the answer is HTML or XML, not {wanted}',
  not: 'the answer is not {wanted}',
  missing: '{path} is not in the answer',
  many: '{path} stands in {count} places of the answer; expected one',
  noAmount: '{path} is {value}; expected an amount',
  debt: '{path} is {value}, which looks like a debt; a pattern has to take in its minus, or name it',
  outOfRange: '{path} is out of range',
  noSuccess: 'the provider does not report success: {path} is {value}',
  notPrepaid: 'the account is not prepaid: {path} says that it has no balance',
  askedForToken: 'asked for a token: {reason}',
});
