/** Every preset, one file of data each. Nothing else in the program lists them. */

export { default as appriseApi } from './apprise-api.json' with { type: 'json' };
export { default as discord } from './discord.json' with { type: 'json' };
export { default as goalert } from './goalert.json' with { type: 'json' };
export { default as googleChat } from './google-chat.json' with { type: 'json' };
export { default as gotify } from './gotify.json' with { type: 'json' };
export { default as grafanaIrm } from './grafana-irm.json' with { type: 'json' };
export { default as incidentIo } from './incident-io.json' with { type: 'json' };
export { default as mattermost } from './mattermost.json' with { type: 'json' };
export { default as ntfy } from './ntfy.json' with { type: 'json' };
export { default as opsgenie } from './opsgenie.json' with { type: 'json' };
export { default as pushover } from './pushover.json' with { type: 'json' };
export { default as smsGateway } from './sms-gateway.json' with { type: 'json' };
export { default as telegram } from './telegram.json' with { type: 'json' };
export { default as twilioSms } from './twilio-sms.json' with { type: 'json' };
