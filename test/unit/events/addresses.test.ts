import { expect } from 'chai';
import { isPublicAddress } from '../../../src/events/addresses.ts';

describe('an address of a receiver', () => {
  it('is public if anybody could reach it', () => {
    for (const address of ['1.1.1.1', '93.184.215.14', '172.32.0.1', '2606:4700::1111', '2a01:4f8::1'])
      expect(isPublicAddress(address), address).to.equal(true);
  });

  it('is not public on this machine or this network, for many, or for what is documented', () => {
    const others = [
      ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255'],
      ...['192.168.1.1', '169.254.169.254', '100.64.0.1', '198.18.0.1', '192.0.2.1', '203.0.113.9'],
      ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
      ...['::1', '::', 'fe80::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', 'fec0::1', '2001:db8::1', '100::1'],
    ];
    for (const address of others) expect(isPublicAddress(address), address).to.equal(false);
  });

  it('is not public where it is an IPv6 address that holds an IPv4 address', () => {
    const holding = [
      // Mapped, compatible, NAT64 of both kinds, 6to4 and Teredo.
      ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1'],
      ...['2002:7f00:1::', '2002:a9fe:a9fe::1', '2001::1'],
    ];
    for (const address of holding) expect(isPublicAddress(address), address).to.equal(false);
  });

  it('is not public where it is none', () => {
    for (const text of ['', 'localhost', '1.1.1', '::g']) expect(isPublicAddress(text), text).to.equal(false);
  });
});
