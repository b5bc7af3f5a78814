import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ConfigError } from '../../../src/lib/settings-reader.ts';
import { readProviders } from '../../../src/security/openid/providers-file.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const SECRET = 'a-secret-that-nobody-shows';
const shown = (members: Record<string, unknown>) =>
  JSON.stringify(members, (_name, value) => (value === undefined ? 'nothing' : value));

describe('the file of identity providers', () => {
  const folder = temporaryFolder('all tests');

  before(() => {
    writeFileSync(folder('secret'), ` ${SECRET}\n`);
    writeFileSync(folder('empty'), ' \n');
  });

  const entry = (members: Record<string, unknown> = {}) => ({
    ...{ name: 'corp', label: 'Example Corp', issuer: 'https://id.example.org', clientId: 'hawser' },
    ...{ clientSecretFile: folder('secret'), allowedGroups: ['*'] },
    ...members,
  });
  const read = (content: unknown, isDevelopment = false) => {
    const file = folder('oidc.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return readProviders(file, isDevelopment);
  };
  const expectFault = (content: unknown, place: string, isDevelopment = false) =>
    expect(() => read(content, isDevelopment), place)
      .to.throw(ConfigError)
      .with.property('message')
      .that.includes('HAWSER_OIDC_FILE')
      .and.includes(`${place}: `)
      .and.not.includes(SECRET);

  it('has what the contract says where a member is left out', () => {
    expect(read([entry()])).to.deep.equal([
      {
        ...{ ...entry(), scopes: ['openid', 'profile', 'email'], usernameClaim: '/preferred_username' },
        ...{ emailClaim: '/email', groupsClaim: null, createUsers: true, idTokenAlg: 'RS256' },
        ...{ caFile: null, tokenMaxAgeDays: 30, clientSecret: SECRET, ca: null },
      },
    ]);
    expect(read([])).to.deep.equal([]);
  });

  it('names each provider once', () => {
    const names = (...all: string[]) => all.map((name) => entry({ name }));
    expect(read(names('corp', 'partner'))).to.have.length(2);
    expectFault(names('corp', 'partner', 'corp'), '/2/name');
  });

  it('lets in anyone where the provider names no groups, as nobody would be in one', () => {
    for (const groupsClaim of [undefined, null])
      expectFault([entry({ groupsClaim, allowedGroups: ['SG-Web'] })], '/0/allowedGroups');
    expect(read([entry({ groupsClaim: '/groups', allowedGroups: ['SG-Web'] })])).to.have.length(1);
  });

  it('has issuers on https, and on http on this machine in development alone', () => {
    for (const issuer of ['http://localhost:1234', 'http://127.0.0.1:1234/x', 'http://[::1]:1234']) {
      expect(read([entry({ issuer })], true), issuer).to.have.length(1);
      expectFault([entry({ issuer })], '/0/issuer');
    }
    for (const issuer of ['http://id.example.org', 'http://127.0.0.1.example.org', 'ftp://localhost', 'id'])
      expectFault([entry({ issuer })], '/0/issuer', true);
    for (const issuer of ['https://me@id.example.org', 'https://id.example.org?a', 'https://id.example.org#'])
      expectFault([entry({ issuer })], '/0/issuer');
  });

  const faults: [place: string, members: Record<string, unknown>][] = [
    ['/1/name', { name: 'Corp' }],
    ['/1/name', { name: 'local' }],
    ['/1/name', { name: 'a/b' }],
    ['/1/label', { label: '' }],
    ['/1/clientId', { clientId: undefined }],
    ['/1/clientSecretFile', { clientSecretFile: '/nowhere' }],
    ['/1/clientSecretFile', { clientSecretFile: undefined }],
    ['/1/scopes', { scopes: ['profile'] }],
    ['/1/scopes', { scopes: 'openid profile' }],
    ['/1/scopes/1', { scopes: ['openid', 'two words'] }],
    ['/1/usernameClaim', { usernameClaim: 'preferred_username' }],
    ['/1/emailClaim', { emailClaim: '/e~2' }],
    ['/1/groupsClaim', { groupsClaim: '' }],
    ['/1/allowedGroups', { allowedGroups: undefined }],
    ['/1/allowedGroups', { allowedGroups: [] }],
    ['/1/allowedGroups', { allowedGroups: '*' }],
    ['/1/createUsers', { createUsers: 'yes' }],
    ['/1/idTokenAlg', { idTokenAlg: 'none' }],
    ['/1/idTokenAlg', { idTokenAlg: 'HS256' }],
    ['/1/caFile', { caFile: '/nowhere' }],
    ['/1/tokenMaxAgeDays', { tokenMaxAgeDays: 0 }],
    ['/1/tokenMaxAgeDays', { tokenMaxAgeDays: 3_651 }],
    ['/1/tokenMaxAgeDays', { tokenMaxAgeDays: 1.5 }],
    ['/1', { colour: 'red' }],
  ];
  for (const [place, members] of faults)
    it(`is refused where a provider has ${shown(members)}, and the place is named`, () => {
      expectFault([entry({ name: 'first' }), entry(members)], place);
    });

  it('is refused where a file that it names has not what it should have', () => {
    expectFault([entry({ clientSecretFile: folder('empty') })], '/0/clientSecretFile');
    expectFault([entry({ caFile: folder('secret') })], '/0/caFile');
    const nonsense = folder('nonsense.pem');
    writeFileSync(nonsense, '-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n');
    expectFault([entry({ caFile: nonsense })], '/0/caFile');
  });

  it('is refused where it is no list, and where it is not there', () => {
    expectFault('[', 'the file');
    expectFault({ corp: entry() }, '/');
    expect(() => readProviders(folder('absent'), false)).to.throw(ConfigError);
  });
});
