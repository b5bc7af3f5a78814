/** The versions that nodes get now, pinned to them or not, and that composites are pinned to. No cleanup may remove them. */

import type { Database } from '../db/database.ts';
import { HawserError } from '../lib/errors.ts';
import type { RepositoryRef, VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { CompositeReader } from './composites.ts';
import type { FileConstraint } from './parameters.ts';
import { candidatesFor, type WantedVersion, wantedOf } from './wanted-version.ts';

export interface InUse {
  /** The versions of a configuration or composite that some node resolves to, or some composite is pinned to. */
  versions(repository: RepositoryRef): ReadonlySet<string>;
  /** Each version of the configuration that is delivered, with the channel of the nodes that get it. */
  deliveries(configurationName: string): readonly FileConstraint[];
}

export interface InUseTools {
  database: Database;
  store: VersionSource;
  composites: CompositeReader;
}

const NONE: ReadonlySet<string> = new Set();

/** Reads what is in use now. Each distinct assignment is resolved once, and a fleet has few of them. */
export async function readInUse(tools: InUseTools): Promise<InUse> {
  const collector = new Collector(tools);
  await collector.collectPins();
  await collector.collectAssignments();
  return collector;
}

class Collector implements InUse {
  private readonly tools: InUseTools;
  private readonly used = new Map<string, Set<string>>();
  /** Deliveries by configuration, then by version and channel. */
  private readonly delivered = new Map<string, Map<string, FileConstraint>>();

  constructor(tools: InUseTools) {
    this.tools = tools;
  }

  versions({ kind, name }: RepositoryRef): ReadonlySet<string> {
    return this.used.get(`${kind}/${name}`) ?? NONE;
  }

  deliveries(configurationName: string): readonly FileConstraint[] {
    return [...(this.delivered.get(configurationName)?.values() ?? [])];
  }

  /** Collects the pins of every version of every composite, drafts too. */
  async collectPins(): Promise<void> {
    for await (const { configuration: name, version } of this.tools.composites.children()) {
      if (version !== null) this.use(configuration(name), version);
    }
  }

  async collectAssignments(): Promise<void> {
    const rows = await this.tools.database.read
      .selectFrom('assignments as a')
      .leftJoin('configurations as c', 'c.id', 'a.configuration_id')
      .leftJoin('composites as k', 'k.id', 'a.composite_id')
      .select(['c.name as configuration', 'k.name as composite'])
      .select(['a.major_version as majorVersion', 'a.prerelease_channel as prereleaseChannel', 'a.version'])
      .distinct()
      .execute();
    for (const { configuration: name, composite, ...wanted } of rows) {
      if (name !== null) await this.deliver(name, wanted);
      if (composite !== null) await this.deliverComposite(composite, wanted);
    }
  }

  private async deliverComposite(name: string, wanted: WantedVersion): Promise<void> {
    const repository = { kind: 'composites', name } as const;
    const { prereleaseChannel } = wanted;
    for (const version of await this.choose(repository, wanted)) {
      this.use(repository, version.version);
      for (const child of (await this.tools.composites.document(repository, version)).children) {
        const { configuration: childName } = child;
        if (child.version !== null) this.note(childName, { version: child.version, prereleaseChannel });
        else await this.deliver(childName, wantedOf(child, wanted));
      }
    }
  }

  private async deliver(name: string, wanted: WantedVersion): Promise<void> {
    for (const { version } of await this.choose(configuration(name), wanted))
      this.note(name, { version, prereleaseChannel: wanted.prereleaseChannel });
  }

  private note(
    name: string,
    { version, prereleaseChannel }: { version: string; prereleaseChannel: string | null },
  ): void {
    this.use(configuration(name), version);
    const constraints = this.delivered.get(name) ?? new Map<string, FileConstraint>();
    constraints.set(`${version} ${prereleaseChannel ?? ''}`, {
      configurationVersion: version,
      prereleaseChannel,
    });
    this.delivered.set(name, constraints);
  }

  private use({ kind, name }: RepositoryRef, version: string): void {
    const key = `${kind}/${name}`;
    this.used.set(key, (this.used.get(key) ?? new Set()).add(version));
  }

  /**
   * The versions of which a node gets one: those that roll out and the highest that is open to all. A missing repository
   * gives nobody anything, and has nothing that could be removed.
   */
  private async choose(repository: RepositoryRef, wanted: WantedVersion): Promise<VersionRef[]> {
    try {
      const { rolling, last } = candidatesFor(await this.tools.store.versions(repository), wanted);
      return last === null ? [...rolling] : [...rolling, last];
    } catch (error) {
      if (error instanceof HawserError && error.code === 'repository_missing') return [];
      throw error;
    }
  }
}

function configuration(name: string): RepositoryRef {
  return { kind: 'configurations', name };
}
