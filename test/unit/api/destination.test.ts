import { expect } from 'chai';
import fc from 'fast-check';
import { destinationOf } from '../../../src/api/auth/destination.ts';
import { words } from '../../support/words.ts';

const destination = (next: unknown) => destinationOf(next, '/ui/');

describe('where the sign-in page leads', () => {
  const kept: Record<string, string> = {
    '/ui/': '/ui/',
    '/ui/nodes?status=Error&page=2': '/ui/nodes?status=Error&page=2',
    '/ui/configurations/web/compare/1.0.0...1.1.0#main.dsc.yaml':
      '/ui/configurations/web/compare/1.0.0...1.1.0#main.dsc.yaml',
    '/ui/nodes?fqdn=%2F%2Fa&note=..%2F..': '/ui/nodes?fqdn=%2F%2Fa&note=..%2F..',
    '/ui/search?q=grün': '/ui/search?q=gr%C3%BCn',
    '/ui/nodes/../audit': '/ui/audit',
    '/ui/files/a%2Fb': '/ui/files/a%2Fb',
  };
  for (const [next, address] of Object.entries(kept))
    it(`is ${address} for ${next}`, () => expect(destination(next)).to.equal(address));

  const refused: unknown[] = [
    ...[undefined, null, 7, ['/ui/', '/ui/'], '', '/', '/ui', 'ui/', '/UI/', '/uii/', '/login', ' /ui/'],
    ...words(`//evil.example/ui/ ///evil.example/ui/ /\\evil.example/ui/ \\\\evil.example /ui\\..\\..`),
    ...words('https://evil.example/ui/ https:/ui/ javascript:alert(1) data:text/html,x //ui/'),
    ...words('/ui/.. /ui/../ /ui/../login /ui/..//evil.example /ui/../../evil /ui/a/../../..//evil'),
    ...words('/ui/%2e%2e/login /ui/%2E%2E /ui/.%2e/x /ui/..%2flogin /ui/%2e%2e%2f%2fevil.example'),
    ...words('/ui/..%5clogin /ui/\\..\\.. /ui/a\\b /ui/% /ui/%zz /ui/%ff'),
    ...['/ui/\t/../..', '/ui/\n', '/ui/\0', '/ui/\x7f', '/\tui/'],
  ];
  for (const next of refused)
    it(`is nowhere for ${JSON.stringify(next)}`, () => expect(destination(next)).to.equal(null));

  it('is below the console of this server, whatever somebody writes, and is itself again', () => {
    const piece = fc.constantFrom(
      ' ',
      '\t',
      ...words('/ // .. . %2e %2f %5c \\ @ : ? # evil.example ui ä %'),
    );
    const next = fc.array(piece, { maxLength: 12 }).map((pieces) => `/ui/${pieces.join('')}`);
    fc.assert(
      fc.property(next, (text) => {
        const address = destination(text);
        if (address === null) return;
        const url = new URL(address, 'https://hawser.example:8443');
        expect(url.origin).to.equal('https://hawser.example:8443');
        expect(url.pathname).to.match(/^\/ui\//);
        expect(destination(address)).to.equal(address);
        expect(address).to.match(/^[\x21-\x7e]+$/);
      }),
    );
  });
});
