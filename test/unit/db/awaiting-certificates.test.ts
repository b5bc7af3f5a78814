import { expect } from 'chai';
import { AwaitingCertificates } from '../../../src/db/awaiting-certificates.ts';
import { type Change, ChangeFeed, type ChangeKind } from '../../../src/db/change-feed.ts';
import type { NodeReader } from '../../../src/db/node-reader.ts';

class HandMadeFeed extends ChangeFeed {
  readonly markStale = () => undefined;

  catchUp(): void {
    // A test says itself what has changed.
  }

  tell(kind: ChangeKind, ...keys: string[]): void {
    this.reportChanges(keys.map((key, index): Change => [index, kind, key]));
  }

  lose(): void {
    this.reportLost();
  }
}

const ONE = 'A'.repeat(40);
const TWO = 'B'.repeat(40);
const SHA256 = 'C'.repeat(64);

describe('the certificates that nodes await', () => {
  let stored: string[];
  let reads: number;
  let feed: HandMadeFeed;
  /** Where it is set, answers wait for it, as those of PostgreSQL do. */
  let late: Promise<void> | null;
  let awaiting: AwaitingCertificates;

  beforeEach(() => {
    stored = [ONE];
    reads = 0;
    late = null;
    feed = new HandMadeFeed();
    const read = () => {
      reads += 1;
      const thumbprints = [...stored];
      return late === null ? thumbprints : late.then(() => thumbprints);
    };
    awaiting = new AwaitingCertificates({ awaiting: read } as unknown as NodeReader, feed);
  });

  it('are read once, however many unknown ones come', () => {
    expect(reads).to.equal(0);
    for (let time = 0; time < 3; time += 1) {
      expect(awaiting.has(TWO)).to.equal(false);
      expect(awaiting.has(ONE)).to.equal(true);
    }
    stored = [];
    feed.lose();
    for (let time = 0; time < 3; time += 1) expect(awaiting.has(ONE)).to.equal(false);
    expect(reads).to.equal(2);
  });

  it('are not read again because of certificates with a SHA-256, or of other changes', () => {
    expect(awaiting.has(TWO)).to.equal(false);
    feed.tell('certificates', SHA256);
    feed.tell('scopes', TWO);
    expect(awaiting.has(TWO)).to.equal(false);
    expect(reads).to.equal(1);
  });

  it('may be all that the feed names, without a reading', () => {
    expect(awaiting.has(TWO)).to.equal(false);
    feed.tell('certificates', TWO, ONE);
    expect(awaiting.has(TWO)).to.equal(true);
    expect(awaiting.has(ONE)).to.equal(true);
    expect(reads).to.equal(1);
  });

  it('are read anew after many changes, so that those that were bound go', () => {
    expect(awaiting.has(ONE)).to.equal(true);
    stored = [];
    for (let change = 0; change <= 1_000; change += 1) feed.tell('certificates', ONE);
    expect(awaiting.has(ONE)).to.equal(false);
    expect(reads).to.equal(2);
  });

  it('are read once for all that ask meanwhile, and again where the feed told of one meanwhile', async () => {
    let letIn = () => {};
    late = new Promise((resolve) => {
      letIn = resolve;
    });
    const asked = [awaiting.has(ONE), awaiting.has(TWO)];
    expect(reads).to.equal(1);
    stored = [ONE, TWO];
    feed.tell('certificates', TWO);
    const later = awaiting.has(TWO);
    letIn();
    expect(await Promise.all(asked)).to.deep.equal([true, false]);
    expect(await later).to.equal(true);
    expect(await awaiting.has(TWO)).to.equal(true);
    expect(reads).to.equal(2);
  });

  it('are read again after a reading that failed', async () => {
    late = Promise.reject(new Error('away'));
    const failed = await Promise.resolve(awaiting.has(ONE)).catch(({ message }: Error) => message);
    expect(failed).to.equal('away');
    late = Promise.resolve();
    expect(await awaiting.has(ONE)).to.equal(true);
  });
});
