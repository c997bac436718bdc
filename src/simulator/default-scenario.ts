import scenario from './default-scenario.json' with { type: 'json' };
import { type Scenario, scenarioSchema } from './scenario.ts';

/**
 * What `lowwater simulate` plays without a file: an hour passes in a minute. Three accounts that spend by the
 * hour of the day and are topped up daily, one of which runs into the negative before it is.
 */
export const defaultScenario: Scenario = scenarioSchema.parse(scenario);
