import { expect } from 'chai';
import fc from 'fast-check';
import { sourceOf } from '../../../src/lib/source-address.ts';

describe('what an address counts as', () => {
  for (const [address, source] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1:2', '2001:db8:0:0::/64'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::192.0.2.1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['', ''],
    ['unknown', 'unknown'],
    ['::ffff:300.0.0.1', '::ffff:300.0.0.1'],
  ] as const) {
    it(`is ${source || 'nothing'} of ${address || 'nothing'}`, () => {
      expect(sourceOf(address)).to.equal(source);
    });
  }

  it('is the same for all addresses of a /64 and for no other', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
        const ofOne = sourceOf(one);
        const network = ofOne.endsWith('::/64') ? ofOne.slice(0, -'::/64'.length) : null;
        fc.pre(network !== null);
        expect(sourceOf(`${network}:1:2:3:4`)).to.equal(ofOne);
        const flipped = network?.replace(/[^:]+$/, (group) => (Number.parseInt(group, 16) ^ 1).toString(16));
        expect(sourceOf(`${flipped}:1:2:3:4`)).to.not.equal(ofOne);
        expect(sourceOf(other.toUpperCase())).to.equal(sourceOf(other));
      }),
    );
  });
});
