import { expect } from 'chai';
import { findingsIn } from '../../../src/resolve/entry-points.ts';
import { SchemaReader } from '../../../src/resolve/schemas.ts';

describe('a version whose entry point is missing', () => {
  it('has an Error, and what it declares is unknown', async () => {
    const nothing = {} as never;
    const schemas = new SchemaReader(nothing, {
      parameters: nothing,
      documents: nothing,
      entryPoints: nothing,
    });
    const version = { entryPoint: 'main.dsc.yaml', files: [] };
    const known = await schemas.readEntryPoint('web', version, 'somebody');
    expect(known.declared.kind).to.equal('unknown');
    const told = findingsIn(known, { ...version, isManaged: true });
    expect(told.map(({ severity, code, file }) => `${severity} ${code} ${file}`)).to.deep.equal([
      'Error document_shape main.dsc.yaml',
    ]);
  });
});
