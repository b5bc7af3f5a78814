/** Walks from refs to every object that they lead to, and says which of them are missing, broken or of a wrong type. */

import { HawserError } from '../lib/errors.ts';
import { isCorruption } from './disk-errors.ts';
import type { ObjectContent } from './loose-objects.ts';
import { isMissingObject, type ObjectStore } from './objects.ts';
import { BROKEN_OID, type RefValue } from './refs.ts';
import { decodeTree } from './tree.ts';

/** What is wrong, and with which ref or file of the repository. */
export interface Fault {
  where: string;
  what: string;
}

interface Link {
  oid: string;
  /** Null of what a branch or tag names, which may be anything. */
  type: string | null;
}

const FOLDER = '40000';
/** A commit of another repository, which need not be here. */
const SUBMODULE = '160000';

export class ObjectWalk {
  /** Everything that was looked at, whatever came of it. */
  readonly seen = new Set<string>();
  readonly faults: Fault[] = [];
  private readonly objects: ObjectStore;
  private readonly gitdir: string;
  private readonly shallow: ReadonlySet<string>;

  /** @param shallow the commits whose parents nobody is to look for */
  constructor(objects: ObjectStore, gitdir: string, shallow: ReadonlySet<string>) {
    this.objects = objects;
    this.gitdir = gitdir;
    this.shallow = shallow;
  }

  /** Looks at what the ref leads to and no ref before it did. */
  async from({ name, oid }: RefValue): Promise<void> {
    if (oid === BROKEN_OID) {
      this.faults.push({ where: name, what: 'the ref holds no object id' });
      return;
    }
    const next: Link[] = [{ oid, type: null }];
    for (let link = next.pop(); link !== undefined; link = next.pop()) {
      if (this.seen.has(link.oid)) continue;
      this.seen.add(link.oid);
      const { links, fault } = await this.visit(link);
      next.push(...links);
      if (fault !== null) this.faults.push({ where: name, what: fault });
    }
  }

  private async visit({ oid, type }: Link): Promise<{ links: readonly Link[]; fault: string | null }> {
    try {
      const object = await this.objects.readProven(this.gitdir, oid);
      if (type !== null && object.type !== type)
        return { links: [], fault: `${oid} is a ${object.type} where a ${type} must be` };
      const links = this.linksOf(oid, object);
      return { links: links ?? [], fault: links === null ? `the ${object.type} ${oid} is malformed` : null };
    } catch (error) {
      if (!(error instanceof HawserError)) throw error;
      return { links: [], fault: `the ${type ?? 'object'} ${oid} ${describeFailure(error)}` };
    }
  }

  /** Null of an object whose links cannot be found. */
  private linksOf(oid: string, { type, content }: ObjectContent): Link[] | null {
    if (type === 'tree') return linksOfTree(content);
    const header = type === 'blob' ? '' : content.toString('latin1').split('\n\n', 1)[0];
    if (type === 'tag') {
      const [, object, kind] = /^object ([0-9a-f]{40})\ntype (\w+)$/m.exec(header ?? '') ?? [];
      return object === undefined || kind === undefined ? null : [{ oid: object, type: kind }];
    }
    if (type !== 'commit') return [];
    const tree = /^tree ([0-9a-f]{40})$/m.exec(header ?? '')?.[1];
    if (tree === undefined) return null;
    const parents = this.shallow.has(oid) ? [] : (header?.matchAll(/^parent ([0-9a-f]{40})$/gm) ?? []);
    const links = [...parents].map(([, parent = '']) => ({ oid: parent, type: 'commit' }));
    return [{ oid: tree, type: 'tree' }, ...links];
  }
}

function linksOfTree(content: Buffer): Link[] | null {
  const entries = decodeTree(content)?.filter(({ mode }) => mode !== SUBMODULE);
  return entries?.map(({ mode, oid }) => ({ oid, type: mode === FOLDER ? 'tree' : 'blob' })) ?? null;
}

function describeFailure(error: HawserError): string {
  if (isMissingObject(error)) return 'is missing';
  if (isCorruption(error)) return 'is broken: its bytes are not what its id says';
  return `cannot be read: ${error.cause instanceof Error ? error.cause.message : error.message}`;
}
