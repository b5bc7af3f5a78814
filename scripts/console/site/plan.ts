/** Which nodes the seeded site has, and how each of them behaves. The same number of nodes gives the same plan. */

import type { Outcome } from './reports.ts';

export const REGIONS = ['eu', 'us', 'asia'] as const;
export const ENVIRONMENTS = ['prod', 'test'] as const;

/** How far a node came: what the server knows about what it runs. */
export type Reach = 'Registered' | 'Told' | 'Served' | 'Declared';

export interface Assignment {
  configurationName: string;
  isComposite?: boolean;
  majorVersion?: number;
  prereleaseChannel?: string;
  version?: string;
}

export interface Plan {
  fqdn: string;
  region: (typeof REGIONS)[number];
  environment: (typeof ENVIRONMENTS)[number] | null;
  assignment: Assignment | null;
  reach: Reach;
  outcome: Outcome;
  /** It said that it calls every second, and does not. */
  isStale: boolean;
  /** Its certificate ends within 30 days. */
  isExpiring: boolean;
}

/** The node that is pinned to the version that is withdrawn afterwards. */
export const PINNED_VERSION = '1.2.0';

const KINDS: readonly { prefix: string; of: (at: number) => Assignment | null }[] = [
  ...Array.from({ length: 8 }, () => ({ prefix: 'web', of: shopOf })),
  ...Array.from({ length: 4 }, () => ({
    prefix: 'db',
    of: (at: number) => ({ configurationName: 'database', ...(at % 3 === 0 && { majorVersion: 1 }) }),
  })),
  ...Array.from({ length: 3 }, () => ({
    prefix: 'app',
    of: () => ({ configurationName: 'shop-server', isComposite: true }),
  })),
  ...Array.from({ length: 2 }, () => ({ prefix: 'win', of: () => ({ configurationName: 'os-baseline' }) })),
  { prefix: 'pc', of: () => ({ configurationName: 'inventory' }) },
  ...Array.from({ length: 2 }, () => ({ prefix: 'spare', of: () => null })),
];

function shopOf(at: number): Assignment {
  const more = [
    {},
    { majorVersion: 1 },
    {},
    { prereleaseChannel: 'beta' },
    {},
    { version: PINNED_VERSION },
    {},
  ];
  return { configurationName: 'shop', ...more[at % more.length] };
}

/** The stride has no divisor in common with the numbers of kinds and regions, so every mixture occurs. */
const KIND_STRIDE = 7;

export function planNodes(count: number): Plan[] {
  const numbers = new Map<string, number>();
  const numberOf = (key: string) => {
    const number = (numbers.get(key) ?? 0) + 1;
    numbers.set(key, number);
    return number;
  };
  return Array.from({ length: count }, (_, at) => {
    const kind = KINDS[(at * KIND_STRIDE) % KINDS.length] ?? { prefix: 'spare', of: () => null };
    const region = REGIONS[at % REGIONS.length] ?? 'eu';
    const assignment = kind.of(numberOf(kind.prefix) - 1);
    const number = String(numberOf(`${kind.prefix}.${region}`)).padStart(3, '0');
    return {
      fqdn: `${kind.prefix}-${number}.${region}.example.org`,
      region,
      environment: at % 11 === 10 ? null : at % 3 === 2 || at % 7 === 1 ? 'test' : 'prod',
      assignment,
      reach: reachOf(at, assignment),
      outcome: OUTCOMES[at % OUTCOMES.length] ?? 'Compliant',
      isStale: at % 13 === 12,
      isExpiring: at % 25 === 24,
    };
  });
}

/** Their number has no divisor in common with that of the kinds, so nodes of each kind fail. */
const OUTCOMES: readonly Outcome[] = [
  ...(['Compliant', 'Compliant', 'NonCompliant', 'Compliant', 'Compliant', 'Error'] as const),
  ...(['Compliant', 'Compliant', 'Compliant', 'NonCompliant', 'Unknown', 'Compliant', 'Compliant'] as const),
];

function reachOf(at: number, assignment: Assignment | null): Reach {
  if (at % 17 === 16) return 'Registered';
  if (assignment === null) return 'Told';
  if (at % 19 === 9) return 'Told';
  return at % 16 === 7 ? 'Served' : 'Declared';
}
