/** Suites that ask stock openssl for a second opinion: left out, with the reason in their title, where it is missing. */

import { spawnSync } from 'node:child_process';

const isInstalled = spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0;

export function describeWithOpenssl(title: string, suite: () => void): void {
  if (isInstalled) describe(title, suite);
  else describe.skip(`${title} (skipped: openssl is not installed)`, suite);
}
