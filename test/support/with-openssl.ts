/** Suites that use stock openssl to check a result independently. */

import { describeWith } from './installed.ts';

export function describeWithOpenssl(title: string, suite: () => void): void {
  describeWith(['openssl'], title, suite);
}
