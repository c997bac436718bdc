import { ownFigures } from './figures.ts';
import type { AlertKind } from './kind.ts';

export const configInvalid: AlertKind = {
  type: 'config-invalid',
  subject: () => 'configuration invalid',
  firing: () => 'the changed configuration is invalid, the old one stays in use',
  resolved: () => 'the configuration is valid again and in use',
  recovery: 'Resolved: a valid configuration was loaded.',
  figures: ownFigures,
  advice: () => [
    'Run "lowwater validate": it names each error with its line. The running configuration stays until then.',
  ],
};
