import { expect } from 'chai';
import { createLog } from '../../../src/lib/log.ts';
import { type NodeNote, NodeNotes } from '../../../src/pull/node-notes.ts';

describe('notes of nodes', () => {
  let written: NodeNote<string>[][];
  let isFailing: boolean;
  let notes: NodeNotes<string>;

  beforeEach(() => {
    written = [];
    isFailing = false;
    notes = new NodeNotes(createLog('silent'), {
      onFailure: 'not written',
      batch: 2,
      rest: 1,
      join: (before, then) => before + then,
      async write(some) {
        await new Promise((resolve) => setImmediate(resolve));
        if (isFailing) throw new Error('a fault');
        written.push([...some]);
      },
    });
  });

  it('are joined, and written in batches', async () => {
    for (const id of ['a', 'b', 'c']) notes.add(id, '1');
    notes.add('a', '2');
    expect(notes.of('a')).to.equal('12');
    await notes.flush();
    expect(written).to.deep.equal([
      [
        ['a', '12'],
        ['b', '1'],
      ],
      [['c', '1']],
    ]);
    expect(notes.of('a')).to.equal(undefined);
  });

  it('are kept after a failure, before those that came meanwhile', async () => {
    isFailing = true;
    notes.add('a', '1');
    const flushed = notes.flush();
    await Promise.resolve();
    notes.add('a', '2');
    expect(notes.of('a')).to.equal('12');
    await flushed;
    isFailing = false;
    await notes.flush();
    expect(written).to.deep.equal([[['a', '12']]]);
  });

  it('of one node are written before the rest, and after those that are being written', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) notes.add(id, '1');
    const flushed = notes.flush();
    await Promise.resolve();
    notes.add('a', '2');
    const settled = [notes.settle('a'), notes.settle('e')];
    expect(notes.settle('x')).to.equal(undefined);
    await Promise.all(settled);
    const inOrder = written.flat().map(([id, note]) => id + note);
    expect(inOrder).to.include.members(['a1', 'a2', 'e1']);
    expect(inOrder.indexOf('a1')).to.be.lessThan(inOrder.indexOf('a2'));
    await flushed;
    const all = written.flat().map(([id, note]) => id + note);
    expect(all).to.have.members(['a1', 'b1', 'a2', 'e1', 'c1', 'd1']);
  });

  it('of one node stay noted where they cannot be written', async () => {
    isFailing = true;
    notes.add('a', '1');
    await notes.settle('a');
    expect(notes.of('a')).to.equal('1');
    isFailing = false;
    await notes.settle('a');
    expect(written).to.deep.equal([[['a', '1']]]);
  });
});
