import { expect } from 'chai';
import { RecentMap } from '../../../src/lib/recent-map.ts';

function filled(half: number, keys: readonly string[]): RecentMap<string, { of: string }> {
  const map = new RecentMap<string, { of: string }>(half);
  for (const key of keys) map.set(key, { of: key });
  return map;
}

describe('a map of what was used most recently', () => {
  it('keeps as many entries as it promises', () => {
    const keys = Array.from({ length: 100 }, (_, at) => `key ${at}`);
    const map = filled(10, keys);
    expect(keys.slice(-10).map((key) => map.get(key)?.of)).to.deep.equal(keys.slice(-10));
    expect(map.get('key 0')).to.equal(undefined);
    expect(map.size).to.be.at.most(20);
  });

  it('keeps an old entry that is asked for again and again', () => {
    const map = filled(3, ['kept']);
    for (let at = 0; at < 50; at += 1) {
      map.set(`key ${at}`, { of: 'another' });
      expect(map.get('kept')?.of, `after ${at}`).to.equal('kept');
    }
  });

  it('gives the newest value of a key, also where an older one was put aside', () => {
    const map = filled(2, ['a', 'b', 'c']);
    map.set('a', { of: 'new' });
    expect(map.get('a')?.of).to.equal('new');
    for (const key of ['d', 'e']) map.set(key, { of: key });
    expect(map.get('a')?.of).to.equal('new');
  });

  it('forgets what is deleted, wherever it lay', () => {
    const map = filled(2, ['a', 'b', 'c']);
    for (const key of ['a', 'c']) map.delete(key);
    expect([map.get('a'), map.get('c'), map.get('b')?.of]).to.deep.equal([undefined, undefined, 'b']);
    map.clear();
    expect([map.get('b'), map.size]).to.deep.equal([undefined, 0]);
  });
});
