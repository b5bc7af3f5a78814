/** Changes the children of a composite's draft: which configurations it consists of, at which versions. */

import { changedMembers } from '../domain/changed-members.ts';
import {
  type CompositeChild,
  type CompositeDocument,
  MAX_CHILDREN,
  takesEntryPoint,
} from '../domain/composite-document.ts';
import { leadingVHint } from '../domain/version-order.ts';
import { conflict, HawserError, invalid, invalidField, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { grantedResource } from '../security/authorize.ts';
import { type ChildTarget, changeDocument, type DocumentChange } from './composite-draft.ts';
import type { CompositeTools } from './publish-composite.ts';

/** What of a child may be changed. An absent member stays, unless the other of the first two is given. */
export interface ChildChange {
  /** Null follows the highest published version. */
  activeVersion?: string | null | undefined;
  /** Follows the highest of this major alone; null of any. */
  majorVersion?: number | null | undefined;
  /** Equal ones go by name. */
  order?: number | null | undefined;
}

/** A configuration that is to be a child, behind all others unless an order is given. */
export type NewChild = ChildChange & { childConfigurationName: string };

/**
 * Adds a configuration that the caller may read.
 * @throws HawserError not_found, invalid `nested_composite`, conflict `child_exists`, `reserved_path`,
 *   `no_eligible_version` or `published_version`
 */
export async function addChild(
  tools: CompositeTools,
  target: ChildTarget,
  { childConfigurationName: name, activeVersion, majorVersion, order }: NewChild,
): Promise<CompositeChild> {
  const given = { version: activeVersion ?? null, majorVersion: majorVersion ?? null };
  const item = { id: newId(), configuration: name, ...given, order: order ?? 0 };
  const add = async (document: CompositeDocument): Promise<DocumentChange> => {
    if (document.children.some((child) => child.configuration === name)) {
      throw conflict('child_exists', 'The configuration is a child of this version already');
    }
    if (takesEntryPoint(document.entryPoint, name)) {
      throw conflict('reserved_path', 'The folder of this child would stand where the entry point stands');
    }
    if (document.children.length >= MAX_CHILDREN) {
      throw invalid('validation_failed', `A composite has at most ${MAX_CHILDREN} children`);
    }
    await requireVersion(tools, name, item.version);
    item.order = order ?? nextOrder(document);
    const changed = { ...document, children: [...document.children, item] };
    return { document: changed, action: 'composite.child_added', details: detailsOf(item) };
  };
  await underChildsLock(tools, target, name, () => changeDocument(tools, target, add));
  return item;
}

/** Runs work under the lock of the child, which its deletion takes too. So the child still exists when the work ends. */
async function underChildsLock(
  tools: CompositeTools,
  target: ChildTarget,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  await requireReadableChild(tools, target, name);
  try {
    await tools.store.exclusive({ kind: 'configurations', name }, async () => {
      await requireReadableChild(tools, target, name);
      await work();
    });
  } catch (error) {
    // The child may have been deleted while we waited for its lock. That is 404, not a fault of the disk.
    await requireReadableChild(tools, target, name);
    throw error;
  }
}

function detailsOf({ id, configuration, version, majorVersion, order }: CompositeChild) {
  const given = { activeVersion: version, ...(majorVersion !== null && { majorVersion }) };
  return { childId: id, childConfigurationName: configuration, ...given, order };
}

/** What a change may alter. */
function changeable({ version, majorVersion, order }: CompositeChild) {
  return { activeVersion: version, majorVersion, order };
}

/**
 * Changes a child. The caller must be allowed to read it, as the answer tells which versions it has.
 * @throws HawserError not_found for the child, invalid for an unknown version, conflict `no_eligible_version` for a new pin
 *   to a withdrawn one, or `published_version`
 */
export async function changeChild(
  tools: CompositeTools,
  target: ChildTarget,
  childId: string,
  change: ChildChange,
): Promise<CompositeChild> {
  let changed: CompositeChild | undefined;
  await changeDocument(tools, target, async (document) => {
    const child = findChild(document, childId);
    const name = child.configuration;
    await grantedResource(tools.database.read, target.principal, 'configuration', 'Read', { name });
    const after = { ...child, ...givenAfter(child, change), order: change.order ?? child.order };
    if (after.version !== child.version) await requireVersion(tools, name, after.version);
    changed = after;
    const changes = changedMembers(changeable(child), changeable(after));
    if (changes === null) return null;
    const children = document.children.map((other) => (other === child ? after : other));
    const details = { childId, childConfigurationName: child.configuration, ...changes };
    return { document: { ...document, children }, action: 'composite.child_changed', details };
  });
  if (changed === undefined) throw noSuchChild();
  return changed;
}

/** What is left out stays, unless what is given excludes it. */
function givenAfter(
  before: CompositeChild,
  { activeVersion, majorVersion }: ChildChange,
): Pick<CompositeChild, 'version' | 'majorVersion'> {
  if (typeof activeVersion === 'string') return { version: activeVersion, majorVersion: null };
  if (typeof majorVersion === 'number') return { version: null, majorVersion };
  return {
    version: activeVersion === undefined ? before.version : null,
    majorVersion: majorVersion === undefined ? before.majorVersion : null,
  };
}

/** @throws HawserError not_found for the child, conflict `published_version` */
export async function removeChild(
  tools: CompositeTools,
  target: ChildTarget,
  childId: string,
): Promise<void> {
  await changeDocument(tools, target, async (document) => {
    const child = findChild(document, childId);
    const children = document.children.filter((other) => other !== child);
    return {
      document: { ...document, children },
      action: 'composite.child_removed',
      details: detailsOf(child),
    };
  });
}

function findChild(document: CompositeDocument, childId: string): CompositeChild {
  const child = document.children.find(({ id }) => id === childId);
  if (child === undefined) throw noSuchChild();
  return child;
}

const noSuchChild = () => notFound('No such child in this version');

function nextOrder({ children }: CompositeDocument): number {
  const highest = children.reduce((most, child) => Math.max(most, child.order), -1);
  return Math.min(highest + 1, Number.MAX_SAFE_INTEGER);
}

/** @throws HawserError not_found; invalid `nested_composite` where the name is that of a composite the caller may read */
async function requireReadableChild(
  { database }: CompositeTools,
  { principal }: ChildTarget,
  name: string,
): Promise<void> {
  try {
    await grantedResource(database.read, principal, 'configuration', 'Read', { name });
  } catch (error) {
    if (!(error instanceof HawserError) || error.kind !== 'not_found') throw error;
    const nested = await grantedResource(database.read, principal, 'composite', 'Read', { name }).catch(
      () => null,
    );
    if (nested === null) throw error;
    throw invalid('nested_composite', 'A composite configuration cannot be a child of another');
  }
}

async function requireVersion(
  { store }: CompositeTools,
  name: string,
  version: string | null,
): Promise<void> {
  if (version === null) return;
  const ref = (await store.versions({ kind: 'configurations', name })).get(version);
  if (ref === undefined) {
    const message = `The child has no such version${leadingVHint(version)}`;
    throw invalidField('/activeVersion', message, 'unknown_version');
  }
  if (ref.withdrawn) throw conflict('no_eligible_version', 'That version of the child is withdrawn');
}
