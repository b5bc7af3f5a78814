/**
 * An independent model of who gets which version, by which way, and how it went there. It knows what was published,
 * assigned, told and reported, and nothing of how the server keeps any of it.
 */

export type Kind = 'configurations' | 'composites';
export type Evidence = 'Told' | 'Served' | 'Declared';

export interface Child {
  name: string;
  pin: string | null;
}

interface Version {
  isWithdrawn: boolean;
  /** Of a composite. */
  children: readonly Child[];
}

export interface ModelAssignment {
  kind: Kind;
  name: string;
  major: number | null;
  pin: string | null;
}

export class ModelNode {
  readonly nodeId: string;
  readonly fqdn: string;
  assigned: ModelAssignment | null = null;
  running: { checksum: string; evidence: Evidence } | null = null;
  answered: string | null = null;
  /** By checksum: whether the last report that names it had errors, or the LCM has failed since. */
  readonly outcomes = new Map<string, { hadErrors: boolean; lcmFailed: boolean }>();

  constructor({ nodeId, fqdn }: { nodeId: string; fqdn: string }) {
    this.nodeId = nodeId;
    this.fqdn = fqdn;
  }

  /** Evidence of another checksum replaces what was there; of the same one only stronger evidence does. */
  note(checksum: string, evidence: Evidence): void {
    const order = ['Told', 'Served', 'Declared'];
    const { running } = this;
    const isStronger = running === null || order.indexOf(evidence) > order.indexOf(running.evidence);
    if (running?.checksum !== checksum || isStronger) this.running = { checksum, evidence };
  }

  reported(checksum: string, hadErrors: boolean): void {
    this.note(checksum, 'Declared');
    this.outcomes.set(checksum, { hadErrors, lcmFailed: false });
  }

  toldLcm(status: string): void {
    for (const outcome of this.outcomes.values()) outcome.lcmFailed = status === 'Error';
  }
}

/** How something reaches a node. The version is null where the node gets an error. */
export interface ModelWay {
  via: string;
  isPinned: boolean;
  version: string | null;
}

const numbers = (version: string) => version.split('.').map(Number);

export function compare(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  const at = left.findIndex((each, place) => each !== right[place]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

export class WaysModel {
  readonly versions = {
    configurations: new Map<string, Map<string, Version>>(),
    composites: new Map<string, Map<string, Version>>(),
  };
  nodes: ModelNode[] = [];

  publish(kind: Kind, name: string, version: string, children: readonly Child[] = []): void {
    const all = this.versions[kind].get(name) ?? new Map<string, Version>();
    this.versions[kind].set(name, all.set(version, { isWithdrawn: false, children }));
  }

  setWithdrawn(kind: Kind, name: string, version: string, isWithdrawn: boolean): void {
    const found = this.versions[kind].get(name)?.get(version);
    if (found) found.isWithdrawn = isWithdrawn;
  }

  isWithdrawn(kind: Kind, name: string, version: string): boolean {
    return this.versions[kind].get(name)?.get(version)?.isWithdrawn ?? false;
  }

  /** All published versions, the highest first. */
  list(kind: Kind, name: string): string[] {
    return [...(this.versions[kind].get(name)?.keys() ?? [])].sort(compare).reverse();
  }

  /** By which way a configuration or composite reaches a node; null where it does not. */
  wayTo(node: ModelNode, kind: Kind, name: string): ModelWay | null {
    const { assigned } = node;
    if (assigned === null) return null;
    const version = this.resolve(assigned.kind, assigned.name, assigned);
    const children = this.childrenOf(assigned, version);
    const given = children.map((child) => ({
      ...child,
      version: this.resolve('configurations', child.name, { major: null, pin: child.pin }),
    }));
    const isWhole = given.every((child) => child.version !== null);
    if (assigned.kind === kind && assigned.name === name)
      return { via: 'Direct', isPinned: assigned.pin !== null, version: isWhole ? version : null };
    const child = kind === 'configurations' ? given.find((each) => each.name === name) : undefined;
    return (
      (child && {
        via: assigned.name,
        isPinned: child.pin !== null,
        version: isWhole ? child.version : null,
      }) ??
      null
    );
  }

  private childrenOf({ kind, name }: ModelAssignment, version: string | null): readonly Child[] {
    if (kind === 'configurations' || version === null) return [];
    return this.versions.composites.get(name)?.get(version)?.children ?? [];
  }

  private resolve(
    kind: Kind,
    name: string,
    { major, pin }: { major: number | null; pin: string | null },
  ): string | null {
    const all = this.versions[kind].get(name) ?? new Map<string, Version>();
    if (pin !== null) return all.has(pin) ? pin : null;
    const fits = this.list(kind, name).filter((version) => major === null || numbers(version)[0] === major);
    return fits.find((version) => !all.get(version)?.isWithdrawn) ?? null;
  }
}

export const REASON_BY_EVIDENCE = { Declared: null, Served: 'NotReported', Told: 'NotDownloaded' } as const;

/** Why a node does not run what it is offered. @param offered the checksum of that */
export function modelReason(node: ModelNode, offered: string | null): string | null {
  const { running, answered } = node;
  if (offered === null) return 'Unresolvable';
  if (running === null) return 'NeverPolled';
  if (running.checksum === offered) return REASON_BY_EVIDENCE[running.evidence];
  return answered === offered ? 'RunsOther' : 'NotPolledSince';
}

export function modelOutcome(node: ModelNode, offered: string | null): string | null {
  if (modelReason(node, offered) !== null) return null;
  const outcome = node.outcomes.get(offered ?? '');
  if (outcome === undefined) return 'Untested';
  return outcome.hadErrors || outcome.lcmFailed ? 'Failed' : 'Applied';
}
