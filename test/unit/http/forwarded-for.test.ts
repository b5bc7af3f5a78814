import { expect } from 'chai';
import fc from 'fast-check';
import { clientAddress } from '../../../src/http/proxies.ts';
import { AddressSet } from '../../../src/lib/address-set.ts';

const PROXIES = new AddressSet(['127.0.0.1', '10.0.0.0/8']);
const from = (header: string, peer = '127.0.0.1') => clientAddress(peer, header, PROXIES);

describe("the client's address behind proxies", () => {
  const cases: [header: string, expected: string][] = [
    ['', '127.0.0.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['203.0.113.9, 192.0.2.1', '192.0.2.1'],
    ['203.0.113.9, 192.0.2.1, 10.1.1.1', '192.0.2.1'],
    ['10.2.2.2, 10.1.1.1', '10.2.2.2'],
    ['192.0.2.1:4711,10.1.1.1:80', '192.0.2.1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['203.0.113.9, unknown', '127.0.0.1'],
    ['203.0.113.9, unknown, 10.1.1.1', '10.1.1.1'],
    ['203.0.113.9,', '127.0.0.1'],
    ['for=203.0.113.9', '127.0.0.1'],
  ];
  for (const [header, expected] of cases)
    it(`is ${expected} by "${header}"`, () => expect(from(header)).to.equal(expected));

  it('is written without the prefix that a socket for both kinds of address shows', () => {
    expect(from('', '::ffff:10.0.0.1')).to.equal('10.0.0.1');
  });

  it('does not depend on anything that stands left of the first stranger', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.constantFrom('10.1.1.1', '127.0.0.1')), (left, proxies) => {
        expect(from([left, '192.0.2.1', ...proxies].join(', '))).to.equal('192.0.2.1');
      }),
    );
  });
});
