import { expect } from 'chai';
import { chainsTo, parseChain } from '../../../src/security/certificates.ts';
import { OpensslAuthority, Workspace } from './openssl.ts';

describe('whether a certificate chains to an authority', () => {
  let space: Workspace;
  let otherSpace: Workspace;
  let authority: OpensslAuthority;
  let impostor: OpensslAuthority;

  before(() => {
    space = new Workspace();
    otherSpace = new Workspace();
    authority = new OpensslAuthority(space);
    impostor = new OpensslAuthority(otherSpace);
  });

  after(() => {
    space.remove();
    otherSpace.remove();
  });

  const chains = (pem: string, authorities = authority.certificate): boolean =>
    chainsTo(parseChain(pem), authorities);

  const sign = (name: string, issuer: string, extensions: string) => space.sign(name, issuer, extensions);

  it('says yes to what the authority has issued for clients, among other authorities too', () => {
    const { cert } = authority.issue();
    expect(chains(cert)).to.equal(true);
    expect(chains(cert, `${impostor.certificate}\n${authority.certificate}`)).to.equal(true);
  });

  it('says no to the same name with another key, to itself alone, and to a certificate for servers', () => {
    expect(chains(impostor.issue().cert)).to.equal(false);
    const self = sign('self', 'ca', 'basicConstraints=CA:false');
    expect(chains(self, impostor.certificate)).to.equal(false);
    expect(chains(authority.issue('server').cert)).to.equal(false);
  });

  it('follows the issuers that come with it, and only those that may issue', () => {
    const inner = sign('inner', 'ca', 'basicConstraints=critical,CA:true');
    const leaf = sign('leaf', 'inner', 'extendedKeyUsage=clientAuth');
    expect(chains(leaf)).to.equal(false);
    expect(chains(`${leaf}${inner}`)).to.equal(true);
    expect(chains(leaf, inner)).to.equal(true);
    const fake = sign('fake', 'ca', 'basicConstraints=critical,CA:false');
    const under = sign('under', 'fake', 'extendedKeyUsage=clientAuth');
    expect(chains(`${under}${fake}`)).to.equal(false);
    // Going round in a circle ends.
    expect(chains(`${impostor.issue().cert}${impostor.certificate}`)).to.equal(false);
  });
});
