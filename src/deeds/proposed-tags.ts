/** The tags that nodes have after the changes that were tried. */

import type { Db } from '../db/database.ts';
import { requireNodes } from '../db/nodes.ts';
import { findTypeOfValue } from '../db/scope-types.ts';
import type { ChangeOf } from './changes.ts';
import { alreadyTagged, notTagged, requireTypeOfValue, tagsOfType, valuesByType } from './tag-node.ts';

export class ProposedTags {
  /** The values by scope type of each node; null where a tag goes. */
  readonly byNode = new Map<string, Map<string, string | null>>();
  private readonly read: Db;

  constructor(read: Db) {
    this.read = read;
  }

  async tag({ nodeIds, scopeValueId }: ChangeOf<'Tag'>): Promise<void> {
    await requireNodes(this.read, nodeIds);
    const typeId = await requireTypeOfValue(this.read, scopeValueId);
    const tagOf = await this.valuesOf(nodeIds, typeId);
    if (nodeIds.some((nodeId) => tagOf(nodeId) !== null)) throw alreadyTagged();
    this.put(nodeIds, typeId, scopeValueId);
  }

  async untag({ nodeIds, scopeValueId }: ChangeOf<'Untag'>): Promise<void> {
    await requireNodes(this.read, nodeIds);
    const typeId = await findTypeOfValue(this.read, scopeValueId);
    if (typeId === undefined) throw notTagged();
    const tagOf = await this.valuesOf(nodeIds, typeId);
    if (nodeIds.some((nodeId) => tagOf(nodeId) !== scopeValueId)) throw notTagged();
    this.put(nodeIds, typeId, null);
  }

  async replace({ nodeIds, scopeValueIds }: ChangeOf<'SetTags'>): Promise<void> {
    await requireNodes(this.read, nodeIds);
    for (const [typeId, valueId] of await valuesByType(this.read, scopeValueIds))
      this.put(nodeIds, typeId, valueId);
  }

  /** The value of the type that a node has after the changes that were taken; null for none. */
  private async valuesOf(nodeIds: readonly string[], typeId: string): Promise<(id: string) => string | null> {
    const stored = await tagsOfType(this.read, nodeIds, typeId);
    return (nodeId) => {
      const proposed = this.byNode.get(nodeId)?.get(typeId);
      return proposed === undefined ? (stored.get(nodeId) ?? null) : proposed;
    };
  }

  private put(nodeIds: readonly string[], typeId: string, valueId: string | null): void {
    for (const nodeId of nodeIds) {
      const tags = this.byNode.get(nodeId) ?? new Map<string, string | null>();
      this.byNode.set(nodeId, tags.set(typeId, valueId));
    }
  }
}
