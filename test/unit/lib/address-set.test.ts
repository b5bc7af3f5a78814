import { expect } from 'chai';
import fc from 'fast-check';
import { AddressSet, isAddressRange, isLoopback } from '../../../src/lib/address-set.ts';

describe('sets of addresses', () => {
  it('hold addresses and ranges, of both kinds', () => {
    const set = new AddressSet(['192.0.2.1', '10.0.0.0/8', '2001:db8::/32', '::1']);
    for (const address of ['192.0.2.1', '10.255.0.1', '2001:db8:1::1', '::1', '0:0:0:0:0:0:0:1'])
      expect(set.has(address), address).to.equal(true);
    for (const address of ['192.0.2.2', '11.0.0.0', '2001:db9::1', '::2', '', 'x', '10.0.0.1/8', '10.1'])
      expect(set.has(address), address).to.equal(false);
    expect(new AddressSet([]).has('127.0.0.1')).to.equal(false);
  });

  it('know an IPv4 address by its IPv6 form too, as a socket for both shows it', () => {
    expect(new AddressSet(['127.0.0.0/8']).has('::ffff:127.0.0.1')).to.equal(true);
    expect(new AddressSet(['::ffff:192.0.2.1']).has('192.0.2.1')).to.equal(true);
  });

  it('cannot be made of everybody, nor of what is no address', () => {
    const faults = ['0.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1'];
    for (const text of [...faults, 'localhost', '', 'fe80::1%eth0', '2001:db8::/129', '10.0.0.0/ 8', '*'])
      expect(isAddressRange(text), text).to.equal(false);
  });

  it('hold exactly the addresses that begin as the range does', () => {
    const address = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const write = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
    fc.assert(
      fc.property(address, address, fc.integer({ min: 1, max: 32 }), (base, other, prefix) => {
        // Near ones as well, since most others are not in it.
        for (const candidate of [other, (base ^ (1 << (32 - prefix))) >>> 0, base]) {
          const isIn = base >>> (32 - prefix) === candidate >>> (32 - prefix);
          expect(new AddressSet([`${write(base)}/${prefix}`]).has(write(candidate))).to.equal(isIn);
        }
      }),
    );
  });
});

it('tells what only this machine can reach', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost', 'LocalHost'])
    expect(isLoopback(host), host).to.equal(true);
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'localhost.example.org', '128.0.0.1', ''])
    expect(isLoopback(host), host).to.equal(false);
});
