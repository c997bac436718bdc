import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { channelReferenceFile, writeChannelReference } from '../../scripts/channel-reference.ts';

it('the page of channels says what each kind says of itself (else: npm run reference)', async () => {
  expect(readFileSync(channelReferenceFile, 'utf8')).toBe(await writeChannelReference());
});
