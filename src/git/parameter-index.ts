/** Which versions the scopes of a configuration have, and which schemas. In memory only; follows each change. */

import { isVersion } from '../domain/version-order.ts';
import type { ParameterLook } from './parameter-checks.ts';
import {
  type NamedParameter,
  parameterDraftName,
  parameterTagName,
  parseParameterRef,
} from './parameter-refs.ts';
import type { ParameterIndex, ParameterScope, ParameterVersionRef } from './parameter-types.ts';
import { SortedVersions } from './version-index.ts';

type Versions = SortedVersions<ParameterVersionRef>;

interface ScopeEntry {
  scope: ParameterScope;
  versions: Versions;
}

/** A draft branch beside the tag of its version: what a publishing that was cut off left. */
export interface LeftOver {
  scope: ParameterScope;
  draft: ParameterLook;
  tag: ParameterLook;
}

export class ParameterVersions implements ParameterIndex {
  /** By full name, every ref that is named like a version. */
  private readonly looks = new Map<string, ParameterLook>();
  /** By scope type and value, empty for none. */
  private readonly types = new Map<string, Map<string, ScopeEntry>>();
  private schemaVersions: Versions = SortedVersions.EMPTY;
  private readonly left = new Map<string, LeftOver>();
  private readonly reasons = new Map<string, string>();

  versions(scope: ParameterScope): readonly ParameterVersionRef[] {
    return this.sorted(scope).versions;
  }

  published(scope: ParameterScope): readonly ParameterVersionRef[] {
    return this.sorted(scope).published;
  }

  get(scope: ParameterScope, version: string): ParameterVersionRef | undefined {
    return this.sorted(scope).get(version);
  }

  scopes(scopeType?: string): ParameterScope[] {
    const types = scopeType === undefined ? [...this.types.values()] : [this.types.get(scopeType)];
    return types.flatMap((values) => [...(values?.values() ?? [])].map(({ scope }) => scope));
  }

  schemas(): readonly ParameterVersionRef[] {
    return this.schemaVersions.versions;
  }

  /** Of the schemas where there is no scope. */
  sorted(scope: ParameterScope | null): Versions {
    if (scope === null) return this.schemaVersions;
    return this.types.get(scope.scopeType)?.get(scope.value ?? '')?.versions ?? SortedVersions.EMPTY;
  }

  get leftOvers(): readonly LeftOver[] {
    return [...this.left.values()];
  }

  get hasLeftOvers(): boolean {
    return this.left.size > 0;
  }

  /** Why refs that look like versions are none, by full name. */
  get faults(): ReadonlyMap<string, string> {
    return this.reasons;
  }

  look(name: string): ParameterLook | undefined {
    return this.looks.get(name);
  }

  allLooks(): Iterable<ParameterLook> {
    return this.looks.values();
  }

  /** What a publishing left has been cleared away. */
  settle({ draft }: LeftOver): void {
    this.left.delete(draft.name);
  }

  /** Takes in what became of these refs, null for one that is gone; whether any version came, went or changed. */
  apply(looks: ReadonlyMap<string, ParameterLook | null>): boolean {
    const touched = new Map<string, { scope: ParameterScope | null; versions: Set<string> }>();
    for (const [name, look] of looks) {
      this.take(name, look);
      const named = look?.named ?? parseParameterRef(name);
      if (named === null || named === 'illegal') continue;
      const key = parameterTagName(named.scope, '');
      const scope = touched.get(key) ?? { scope: named.scope, versions: new Set() };
      touched.set(key, scope);
      scope.versions.add(named.version);
    }
    let changed = false;
    for (const { scope, versions } of touched.values()) {
      const changes = this.changesOf(scope, versions);
      if (changes.size > 0) this.install(scope, this.sorted(scope).with(changes));
      changed ||= changes.size > 0;
    }
    return changed;
  }

  private take(name: string, look: ParameterLook | null): void {
    if (look) this.looks.set(name, look);
    else this.looks.delete(name);
    if (look && look.fault !== null) this.reasons.set(name, look.fault);
    else this.reasons.delete(name);
  }

  private changesOf(scope: ParameterScope | null, versions: Iterable<string>) {
    const before = this.sorted(scope);
    const changes = new Map<string, ParameterVersionRef | null>();
    for (const version of versions) {
      const next = this.refOf(scope, version);
      if (!isSameRef(before.get(version), next)) changes.set(version, next);
    }
    return changes;
  }

  /** What a version is by its tag, which goes before its draft branch, or by that. */
  private refOf(scope: ParameterScope | null, version: string): ParameterVersionRef | null {
    const tag = this.counting(parameterTagName(scope, version));
    const draft = scope && this.counting(parameterDraftName(scope, version));
    if (scope && draft) {
      if (tag?.facts) this.left.set(draft.name, { scope, draft, tag });
      else this.left.delete(draft.name);
    } else if (scope) this.left.delete(parameterDraftName(scope, version));
    if (tag) return toRef(tag, { scope, version, status: 'Published' });
    return draft ? toRef(draft, { scope, version, status: 'Draft' }) : null;
  }

  private counting(name: string): ParameterLook | null {
    const look = this.looks.get(name);
    return look?.counts ? look : null;
  }

  private install(scope: ParameterScope | null, versions: Versions): void {
    if (scope === null) {
      this.schemaVersions = versions;
      return;
    }
    const values = this.types.get(scope.scopeType) ?? new Map<string, ScopeEntry>();
    const key = scope.value ?? '';
    if (versions.versions.length > 0) values.set(key, { scope, versions });
    else values.delete(key);
    if (values.size > 0) this.types.set(scope.scopeType, values);
    else this.types.delete(scope.scopeType);
  }
}

function toRef(
  { name, oid, facts }: ParameterLook,
  { version, status }: NamedParameter,
): ParameterVersionRef {
  const ref = { name, version, status, oid, commit: facts?.commit ?? null };
  return facts === null || isVersion(version) ? ref : { ...ref, createdAt: facts.createdAt };
}

function isSameRef(a: ParameterVersionRef | undefined, b: ParameterVersionRef | null): boolean {
  if (!a || !b) return !a && !b;
  return a.oid === b.oid && a.status === b.status && a.commit === b.commit;
}
