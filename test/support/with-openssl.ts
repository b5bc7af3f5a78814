/** Suites that ask stock openssl for a second opinion. */

import { describeWith } from './installed.ts';

export function describeWithOpenssl(title: string, suite: () => void): void {
  describeWith(['openssl'], title, suite);
}
