/** The children of a composite's draft: which configurations, at which versions, in which order. */

import type { z } from 'zod';
import { changedMembers } from '../../domain/changed-members.ts';
import {
  type CompositeChild,
  type CompositeDocument,
  MAX_CHILDREN,
  takesEntryPoint,
} from '../../domain/composite-document.ts';
import { conflict, HawserError, invalid, invalidField, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { ChildChange, NewChild } from './schemas.ts';
import { type CompositeTools, changeDocument, type DocumentChange, type VersionTarget } from './versions.ts';

/**
 * Adds a configuration that the caller may read.
 * @throws HawserError not_found, invalid `nested_composite`, conflict `child_exists`, `reserved_path` or
 *   `published_version`
 */
export async function addChild(
  tools: CompositeTools,
  target: VersionTarget,
  { childConfigurationName: name, activeVersion, order }: z.output<typeof NewChild>,
): Promise<CompositeChild> {
  const item = { id: newId(), configuration: name, version: activeVersion ?? null, order: order ?? 0 };
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
    return { document: changed, action: 'child_added', details: detailsOf(item) };
  };
  await underChildsLock(tools, target, name, () => changeDocument(tools, target, add));
  return item;
}

/** Whoever deletes the child holds its lock too, so it is still there when the work is done. */
async function underChildsLock(
  tools: CompositeTools,
  target: VersionTarget,
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
    // The repository may have gone while we waited for its lock: that is 404, not a fault of the disk.
    await requireReadableChild(tools, target, name);
    throw error;
  }
}

function detailsOf({ id, configuration, version, order }: CompositeChild) {
  return { childId: id, childConfigurationName: configuration, activeVersion: version, order };
}

/**
 * Changes a child that the caller may read: of another not even its versions can be asked.
 * @throws HawserError not_found for the child, invalid for an unknown version, conflict `published_version`
 */
export async function changeChild(
  tools: CompositeTools,
  target: VersionTarget,
  childId: string,
  { activeVersion, order }: z.output<typeof ChildChange>,
): Promise<CompositeChild> {
  let changed: CompositeChild | undefined;
  await changeDocument(tools, target, async (document) => {
    const child = findChild(document, childId);
    const name = child.configuration;
    await grantedResource(tools.database.read, target.principal, 'configuration', 'Read', { name });
    if (activeVersion !== undefined) await requireVersion(tools, child.configuration, activeVersion);
    const version = activeVersion === undefined ? child.version : activeVersion;
    const after = { ...child, version, order: order ?? child.order };
    changed = after;
    const changes = changedMembers(detailsOf(child), detailsOf(after));
    if (changes === null) return null;
    const children = document.children.map((other) => (other === child ? after : other));
    const details = { childId, childConfigurationName: child.configuration, ...changes };
    return { document: { ...document, children }, action: 'child_changed', details };
  });
  if (changed === undefined) throw noSuchChild();
  return changed;
}

/** @throws HawserError not_found for the child, conflict `published_version` */
export async function removeChild(
  tools: CompositeTools,
  target: VersionTarget,
  childId: string,
): Promise<void> {
  await changeDocument(tools, target, async (document) => {
    const child = findChild(document, childId);
    const children = document.children.filter((other) => other !== child);
    return { document: { ...document, children }, action: 'child_removed', details: detailsOf(child) };
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

/** A name that is no readable configuration, but a readable composite, gets an answer of its own. */
async function requireReadableChild(
  { database }: CompositeTools,
  { principal }: VersionTarget,
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
  const index = await store.versions({ kind: 'configurations', name });
  if (index.get(version) === undefined) {
    throw invalidField('/activeVersion', 'The child has no such version', 'unknown_version');
  }
}
