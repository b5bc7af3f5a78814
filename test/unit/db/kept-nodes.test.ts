import { expect } from 'chai';
import { type Change, ChangeFeed } from '../../../src/db/change-feed.ts';
import { NodeLookup } from '../../../src/db/node-lookup.ts';
import type { NodeReader, NodeRow } from '../../../src/db/node-reader.ts';
import { HawserError } from '../../../src/lib/errors.ts';

/** A feed of which a test says what it tells, and whether the database is away. */
class HandMadeFeed extends ChangeFeed {
  away = false;
  readonly markStale = () => undefined;
  catchUp = () => undefined;

  override get isAway(): boolean {
    return this.away;
  }

  tell(...changes: Change[]): void {
    this.reportChanges(changes);
  }

  lose(isUnsure: boolean): void {
    this.reportLost(isUnsure);
  }
}

const T = 'A'.repeat(64);
const NEXT = 'B'.repeat(64);

describe('what is kept of nodes while the database is away', () => {
  let rows: Map<string, NodeRow>;
  let reads: number;
  let feed: HandMadeFeed;
  let lookup: NodeLookup;

  beforeEach(() => {
    rows = new Map([[T, rowOf('n1')]]);
    reads = 0;
    feed = new HandMadeFeed();
    const byThumbprint = (thumbprint: string) => {
      reads += 1;
      if (feed.away) throw new HawserError('unavailable', 'unavailable', 'away');
      return rows.get(thumbprint);
    };
    lookup = new NodeLookup({ byThumbprint } as unknown as NodeReader, feed, true);
    expect(find()).to.equal('n1');
  });

  const rowOf = (nodeId: string): NodeRow => [nodeId, 9, 0, null, null, null, null, null];

  /** The id of the node that holds it, null for nobody, or the code of the refusal. */
  function find(thumbprint = T): string | null {
    try {
      return (lookup.byThumbprint(thumbprint) as { nodeId: string } | null)?.nodeId ?? null;
    } catch (error) {
      return (error as HawserError).code;
    }
  }

  function whileAway(thumbprint = T): string | null {
    feed.away = true;
    const found = find(thumbprint);
    feed.away = false;
    return found;
  }

  for (const [what, tell] of [
    ['something else of it changes', () => feed.tell([1, 'certificates', T, 'n1'])],
    ['scopes change', () => feed.tell([1, 'scopes', 'Site'])],
    ['nobody knows whether a commit was made', () => feed.lose(true)],
  ] as const)
    it(`stays where ${what}, and is read anew once the database is back`, () => {
      tell();
      expect(whileAway()).to.equal('n1');
      expect(reads).to.equal(1);
      expect(find()).to.equal('n1');
      expect(find()).to.equal('n1');
      expect(reads).to.equal(2);
    });

  it('ends where changes are no longer listed, among which the end of a certificate may be', () => {
    feed.lose(false);
    expect(whileAway()).to.equal('unavailable');
    expect(find()).to.equal('n1');
    expect(whileAway()).to.equal('n1');
  });

  it('ends with its certificate, however often that is named, until it is somebody’s again', () => {
    feed.tell([1, 'certificates', T, null], [2, 'certificates', T, null]);
    expect(whileAway()).to.equal('unauthenticated');
    rows.set(T, rowOf('n2'));
    feed.tell([3, 'certificates', T, 'n2']);
    expect(whileAway(), 'not that of the node before').to.equal('unavailable');
    expect(find()).to.equal('n2');
    expect(whileAway()).to.equal('n2');
  });

  it('ends where another node has the certificate, or where it is announced alone', () => {
    for (const owner of ['n2', '']) {
      expect(find()).to.equal('n1');
      feed.tell([1, 'certificates', T, owner]);
      expect(whileAway(), owner).to.equal('unavailable');
    }
  });

  it('ends where this process has ended the certificate, before the feed tells', () => {
    lookup.noteEnded('n1', null);
    expect(whileAway()).to.equal('unauthenticated');
  });

  it('ends where it was read in vain, before the feed tells', () => {
    feed.tell([1, 'certificates', T, 'n1']);
    rows.clear();
    expect(find()).to.equal(null);
    expect(whileAway()).to.equal('unavailable');
  });

  it('goes on with the certificate that this process has left the node', () => {
    rows = new Map([[NEXT, rowOf('n1')]]);
    lookup.noteEnded('n1', NEXT);
    expect(whileAway()).to.equal('unauthenticated');
    expect(find(NEXT)).to.equal('n1');
    expect(whileAway(NEXT)).to.equal('n1');
  });

  it('lets somebody who is not known hear that the database is away, and never that nobody is there', () => {
    expect(whileAway(NEXT)).to.equal('unavailable');
  });
});
