import { type Scenario, type ScenarioInput, scenarioSchema } from './scenario.ts';

/**
 * What `lowwater simulate` plays without a file: an hour passes in a minute. Three accounts that spend by the
 * hour of the day and are topped up daily, one of which runs into the negative before it is.
 */
export const defaultScenarioInput: ScenarioInput = {
  speed: 60,
  latency: { min: '5ms', max: '30ms' },
  prices: { message: '0.05', lookup: '0.01', call: '0.2' },
  accounts: [
    {
      id: 'otp',
      authSecret: 'demo-otp-secret',
      sms: '620',
      voip: '40',
      currency: 'CNY',
      burn: {
        sms: [
          { from: 0, to: 7, perHour: '4.5' },
          { from: 7, to: 23, perHour: '38.25' },
          { from: 23, to: 24, perHour: '12' },
        ],
      },
    },
    {
      id: 'marketing',
      authSecret: 'demo-marketing-secret',
      sms: '180',
      currency: 'CNY',
      burn: { sms: [{ from: 8, to: 20, perHour: '55.5' }] },
    },
    {
      id: 'voice',
      authSecret: 'demo-voice-secret',
      sms: '25',
      voip: '300',
      currency: 'USD',
      burn: { voip: '9.125' },
    },
  ],
  events: [
    { at: '20h', every: '1d', do: 'top-up', account: 'otp', balance: 'sms', amount: '655.5' },
    { at: '18h', every: '1d', do: 'top-up', account: 'marketing', balance: 'sms', amount: '666' },
    { at: '30h', every: '1d', do: 'top-up', account: 'voice', balance: 'voip', amount: '219' },
  ],
};

export const defaultScenario: Scenario = scenarioSchema.parse(defaultScenarioInput);
