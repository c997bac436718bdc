import { robotAnswers } from '../robot-answers.ts';

const codePage = 'developer.work.weixin.qq.com, global error codes';

/** What a robot answers: always 200, and a code in the body. The text beside it may change, so that only the code decides. */
export const wecomAnswers = robotAnswers({
  receiver: 'WeCom',
  keys: ['errcode', 'errmsg'],
  source: 'developer.work.weixin.qq.com, group robots (91770)',
  rows: [
    {
      codes: [45_009],
      means: 'refused',
      waitMs: 60_000,
      note: 'too many messages: waits a minute',
      source: codePage,
    },
    {
      codes: [-1],
      means: 'refused',
      tries: 4,
      note: 'busy; again three times at most, as WeCom asks',
      source: codePage,
    },
    {
      codes: [93_000],
      means: 'dead',
      remedy: 'the robot was removed, or its key is wrong',
      source: 'an implementation; not in the documentation',
    },
  ],
  others: { source: codePage },
});
