import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { securityHeaders } from '../../../src/http/respond.ts';

describe('the security headers', () => {
  it('ask for TLS the next time over TLS alone', () => {
    const plain = new Socket();
    const secured = new TLSSocket(new Socket());
    expect(securityHeaders(plain)).to.include('nosniff').and.not.include('Strict-Transport-Security');
    expect(securityHeaders(secured)).to.include('nosniff').and.include('Strict-Transport-Security');
    plain.destroy();
    secured.destroy();
  });
});
