import { expect } from 'chai';
import { mediaTypeOf } from '../../../src/http/media-types.ts';

describe('mediaTypeOf', () => {
  const types: [string, string][] = [
    ['main.dsc.yaml', 'application/yaml'],
    ['a/b.YML', 'application/yaml'],
    ['parameters.json', 'application/json'],
    ['x.ps1', 'text/plain; charset=utf-8'],
    ['x.psm1', 'text/plain; charset=utf-8'],
    ['x.psd1', 'text/plain; charset=utf-8'],
    ['x.bicep', 'text/plain; charset=utf-8'],
    ['x.ts', 'text/plain; charset=utf-8'],
    ['README.md', 'text/markdown; charset=utf-8'],
    ['x.txt', 'text/plain; charset=utf-8'],
    ['x.html', 'text/html; charset=utf-8'],
    ['x.xml', 'application/xml'],
    ['x.png', 'image/png'],
    ['json', 'application/octet-stream'],
    ['dir.json/file', 'application/octet-stream'],
    ['.yaml', 'application/octet-stream'],
    ['x.constructor', 'application/octet-stream'],
    ['x.', 'application/octet-stream'],
    ['x.unknown', 'application/octet-stream'],
  ];
  for (const [path, type] of types) it(`${path} is ${type}`, () => expect(mediaTypeOf(path)).to.equal(type));
});
