import { describe, expect, test } from 'vitest';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import { descriptionSchema } from '../../../src/providers/http-json/description.ts';
import { readAnswer } from '../../../src/providers/http-json/read-answer.ts';
import { hostileAnswers } from '../../support/hostile-answers.ts';

const description = descriptionSchema.parse({
  request: { url: 'https://sms.example.net/wallet' },
  balances: [{ id: 'main', amount: '$.data.balance' }],
  currency: { path: '$.data.currency' },
});

/** The transport reads no more than this. */
const maxBodyBytes = 64 * 1024;

describe(`an answer is read exactly, or is none (${hostileAnswers.length} answers)`, () => {
  test.each(
    hostileAnswers.map(([body, micros]) => ({ shown: JSON.stringify(body).slice(0, 90), body, micros })),
  )('$shown is $micros', ({ body, micros }) => {
    const isRead = Buffer.byteLength(body) <= maxBodyBytes;
    const outcome = readAnswer(
      description,
      { status: 200, headers: {}, ...(isRead ? { body } : { body: null, problem: 'too-large' }) },
      { texts: createForeignTexts([]), now: 0 },
    );
    if (micros !== null)
      expect(outcome).toMatchObject({ kind: 'ok', answer: { balances: { main: micros } } });
    else {
      expect(outcome.kind).toBe('invalid_response');
      expect('reason' in outcome ? outcome.reason : '').toMatch(/^.{5,160}$/u);
    }
  });
});
