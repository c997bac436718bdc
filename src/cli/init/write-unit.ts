import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';

const template = new URL('../../../deploy/lowwater.service', import.meta.url);
const program = new URL('../../../dist/main.js', import.meta.url);

/**
 * The unit that comes with the program, with the paths of this Node, this program and this configuration. It runs as who wrote the
 * configuration, who alone can read it; for root that is a user of its own. Never over a file. Gives what is to be done next.
 */
export function writeUnit({ user }: Pick<CommandContext, 'user'>, configuration: string): string {
  const unit = join(dirname(configuration), 'lowwater.service');
  if (existsSync(unit)) throw new UsageError(`${unit} exists; init never writes over a file`);
  if (!existsSync(program) || !existsSync(template))
    throw new CommandError(`${fileURLToPath(program)} is not there: the program must be built`);
  const paths = [realpathSync(process.execPath), realpathSync(program), configuration];
  const odd = paths.find((path) => /[\s%"'\\]/.test(path));
  if (odd !== undefined) throw new CommandError(`${odd}: a unit cannot name a path with spaces, quotes or %`);
  const [node = '', main = ''] = paths;
  const runsAs = user === 'root' ? 'lowwater' : user;
  const isAtHome = paths.some((path) => /^\/(?:home|root)\//.test(path));
  const text = readFileSync(template, 'utf8')
    .replace(/^# systemd unit\..*\n#\n/, '# Written by lowwater init --service systemd.\n#\n')
    .replace(/^#(?! )\S.*\n/gm, '')
    .replace('/usr/bin/node', node)
    .replace('/opt/lowwater/dist/main.js', main)
    .replace('/opt/lowwater/README.md', join(dirname(main), '../README.md'))
    .replace('--config /etc/lowwater/config.json', `--config ${configuration}`)
    .replace(
      'DynamicUser=yes',
      `User=${runsAs}\nEnvironmentFile=-${join(dirname(configuration), 'lowwater.env')}`,
    )
    .replace('ProtectHome=yes', isAtHome ? 'ProtectHome=read-only' : 'ProtectHome=yes');
  writeFileSync(unit, text, { flag: 'wx' });
  const first =
    user === 'root' ? `useradd --system lowwater && chown -R lowwater: ${dirname(configuration)} && ` : '';
  return `${unit} is written. Next, as root: ${first}cp ${unit} /etc/systemd/system/ && systemctl enable --now lowwater\nVariables that the configuration names go into lowwater.env beside it.\n`;
}
