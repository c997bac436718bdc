import { expect, test } from 'vitest';
import { maxRequestsPerSecondLimit } from '../../../src/domain/provider-entry.ts';
import {
  balanceEndpoint,
  endpoints,
  findEndpoint,
} from '../../../src/providers/account-service/endpoints.ts';

test.each<[url: string, group: string | undefined, perSecond: number | undefined]>([
  ['/user/account/balance', 'account', 200],
  ['/user/account/balance/', 'account', 200],
  ['/user/account/balance?x=1', 'account', 200],
  ['/user/account/keys', 'account', 200],
  ['/user/account', 'account', 200],
  ['/sms/txt/2/', 'sms-txt-2', 200],
  ['/sms/txt/2/send', 'sms-txt-2', 200],
  ['/sms/txt/3/', 'sms-txt-3', 60],
  ['/sms/txt/3/query', 'sms-txt-3', 60],
  ['/sms/txt/3/send/json', 'sms-txt-3-send', 200],
  ['/sms/txt/3/send/jsonx', 'sms-txt-3', 60],
  ['/sms/hlr/', 'sms-hlr', 60],
  ['/call', 'call', 200],
  ['/callx', undefined, undefined],
  ['/user/accounts', undefined, undefined],
  ['/sms/txt/4/', undefined, undefined],
  ['/', undefined, undefined],
  ['', undefined, undefined],
])('%s belongs to %s', (url, group, perSecond) => {
  const endpoint = findEndpoint(url);
  expect(endpoint?.group).toBe(group);
  expect(endpoint?.requestsPerSecond).toBe(perSecond);
});

test('accepted one-time passwords are passed on at 60 a second, by that one path alone', () => {
  expect(findEndpoint('/sms/txt/3/send/json')?.forwardedPerSecond).toBe(60);
  expect(endpoints.filter((endpoint) => 'forwardedPerSecond' in endpoint)).toHaveLength(1);
});

test('the guard of the client stays far below the documented limit of the balance', () => {
  expect(maxRequestsPerSecondLimit * 10).toBeLessThanOrEqual(balanceEndpoint.requestsPerSecond);
});
