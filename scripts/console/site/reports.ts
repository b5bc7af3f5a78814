/** What the seeded nodes report: all kinds, with long texts and with hostile ones. */

import {
  exportOutput,
  getOutput,
  grouped,
  setOutput,
  testedService,
  testOutput,
} from '../../../test/support/dsc-results.ts';
import { HOSTILE } from './parameters.ts';

export type Outcome = 'Compliant' | 'NonCompliant' | 'Error' | 'Unknown';

export interface SeedReport {
  operation: 'Get' | 'Set' | 'Test' | 'Export';
  result: unknown;
}

const SERVICES: Record<string, readonly string[]> = {
  shop: ['nginx package', 'nginx service', 'Firewall', 'TLS certificate', 'Status page'],
  database: ['postgresql package', 'postgresql service', 'Replication'],
  'shop-server': ['Disable SMBv1', 'nginx service', 'Firewall'],
  'os-baseline': ['Disable SMBv1', 'Scan removable drives'],
  inventory: ['OSInfo'],
};

/** @param turn differs from report to report, so that not always the same resource is out of its desired state */
export function reportOf(configuration: string, outcome: Outcome, turn: number): SeedReport {
  const names = SERVICES[configuration] ?? ['Web server'];
  if (outcome === 'Unknown') return turn % 2 === 0 ? get() : { operation: 'Export', result: exportOutput() };
  const wrong = outcome === 'Compliant' ? -1 : turn % names.length;
  const results = names.map((name, at) => testedService(at !== wrong, name));
  if (outcome === 'Compliant' && turn % 5 === 4) return { operation: 'Set', result: setOutput() };
  return { operation: 'Test', result: testOutput([grouped('Checks', results)], outcome === 'Error') };
}

function get(): SeedReport {
  return { operation: 'Get', result: getOutput() };
}

/** Hostile text wherever a report holds text. */
export function hostileReport(): SeedReport {
  const output = testOutput([
    testedService(false, HOSTILE),
    testedService(true, '"><script>alert(2)</script>'),
  ]);
  const message = `${HOSTILE} [click](javascript:alert(3)) \u202Egnp.exe`;
  const messages = [{ name: HOSTILE, type: HOSTILE, message, level: 'error' }];
  return { operation: 'Test', result: { ...output, messages, hadErrors: true } };
}

/** Many resources with long names, most of them in their desired state. */
export function longReport(): SeedReport {
  const results = Array.from({ length: 80 }, (_, at) =>
    testedService(
      at % 9 !== 0,
      `Resource ${at + 1} of the long report, ${'with a long name '.repeat(at % 4)}`.trim(),
    ),
  );
  return { operation: 'Test', result: testOutput(results) };
}
