/** What the test has asked for and what the server has acknowledged: the yardstick after each crash. */

/** `sent`: asked for, and the server died before it answered, so that both outcomes are right. */
export type Certainty = 'sent' | 'acknowledged';

export interface VersionFacts {
  files: Record<string, string>;
  drafted: Certainty;
  published: 'no' | Certainty;
  /** Whether its files have been read since it was written or published. */
  isRead: boolean;
}

export interface ConfigurationFacts {
  created: Certainty;
  versions: Map<string, VersionFacts>;
}

export interface NodeFacts {
  registered: Certainty;
  nodeId: string | null;
  /** SHA-256 of the certificate that was issued, as the answer said. */
  thumbprint: string | null;
}

export class Model {
  readonly configurations = new Map<string, ConfigurationFacts>();
  readonly nodes = new Map<string, NodeFacts>();
  /** Configurations written to, and nodes registered, since somebody last looked. */
  readonly touched = new Set<string>();
  readonly arrived = new Set<string>();
  private counter = 0;

  /** For names and versions: never the same twice. */
  next(): number {
    this.counter += 1;
    return this.counter;
  }

  addVersion(name: string, version: string, files: Record<string, string>): VersionFacts {
    const facts: VersionFacts = { files, drafted: 'sent', published: 'no', isRead: false };
    const configuration = this.configurations.get(name) ?? { created: 'sent', versions: new Map() };
    configuration.versions.set(version, facts);
    this.configurations.set(name, configuration);
    this.touched.add(name);
    return facts;
  }

  addNode(fqdn: string): NodeFacts {
    const facts: NodeFacts = { registered: 'sent', nodeId: null, thumbprint: null };
    this.nodes.set(fqdn, facts);
    this.arrived.add(fqdn);
    return facts;
  }

  /** Configurations that are there for certain. */
  knownNames(): string[] {
    return [...this.configurations]
      .filter(([, { created }]) => created === 'acknowledged')
      .map(([name]) => name);
  }

  /** Drafts that are there for certain and that nobody has begun to publish. */
  drafts(): [name: string, version: string, facts: VersionFacts][] {
    return [...this.configurations].flatMap(([name, { versions }]) =>
      [...versions]
        .filter(([, facts]) => facts.drafted === 'acknowledged' && facts.published === 'no')
        .map(([version, facts]) => [name, version, facts] as [string, string, VersionFacts]),
    );
  }
}

/** Random numbers from a seed, so that a failure's order of work can be had again (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** From 0 up to, not including, `limit`. */
  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }
}
