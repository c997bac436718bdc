import { expect, it } from 'vitest';
import { concernOf } from '../../../src/store/sqlite/file-system.ts';

it.each([
  ['NFS', 0x6969, /network file system/],
  ['SMB', 0xfe534d42, /network file system/],
  ['a container layer', 0x794c7630, /lost with the container: mount a volume/],
])('a database on %s is warned of', (_name, type, warning) => {
  expect(concernOf(type)?.warning).toMatch(warning);
});

it.each([
  ['ext4', 0xef53],
  ['tmpfs', 0x01021994],
])('a database on %s is fine', (_name, type) => {
  expect(concernOf(type)).toBeNull();
});
