import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../../scripts/support/project.ts';
import { sha256Hex } from '../../../src/lib/hash.ts';
import { toDeclared, wayOf } from '../../../src/resolve/declared.ts';
import { documentTasks } from '../../../src/resolve/document-tasks.ts';
import { storedSource } from '../../../src/resolve/documents.ts';
import { HeldKeys } from '../../../src/resolve/held-keys.ts';

const GOLDEN = join(PROJECT, 'test/golden/merging');
/** The bytes that were merged of these before there were strategies, by their SHA-256. */
const OF_BEFORE: Record<string, string> = {
  deep: '782bd8a30cd6a387b73bc1157771141cca3d01f4cd32e385f9749a227878b51a',
  'list-by-default': '58cee0690a1675563e4882b87cae95399bd58f069ac4f9fca962d96eaf71a406',
};

describe('merged files', () => {
  const tasks = documentTasks(new HeldKeys());
  const read = (path: string) => {
    const bytes = readFileSync(path);
    return storedSource(sha256Hex(bytes), bytes, 'yaml');
  };

  for (const name of readdirSync(GOLDEN))
    it(`are those that were reviewed: ${name}`, () => {
      const folder = join(GOLDEN, name);
      const declared = toDeclared(name, tasks.declare({ document: read(join(folder, 'schema.yaml')) }));
      const documents = ['1.yaml', '2.yaml', '3.yaml'].map((file) => read(join(folder, file)));
      const { bytes, evidence, mergeVersion, variables } = tasks.mergeDocuments({
        documents,
        way: wayOf(declared),
      });
      const file = join(folder, 'expected.yaml');
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, bytes);
      expect(existsSync(file) && readFileSync(file, 'utf8')).to.equal(String(bytes));
      expect(variables).to.deep.equal({});
      expect(mergeVersion).to.equal(name in OF_BEFORE ? 1 : 2);
      if (name in OF_BEFORE) expect(evidence).to.equal(OF_BEFORE[name]);
    });

  it('have at most 8 MiB', () => {
    const text = (name: string) => {
      const bytes = Buffer.from(`parameters: {${name}: "${'x'.repeat(999_000)}"}`);
      return storedSource(sha256Hex(bytes), bytes, 'yaml');
    };
    const way = wayOf({ kind: 'nothing' });
    const documents = [...'abcdefgh'].map(text);
    expect(tasks.mergeDocuments({ documents, way }).bytes.byteLength).to.be.greaterThan(7_990_000);
    expect(() => tasks.mergeDocuments({ documents: [...documents, text('i')], way })).to.throw(
      /8388608 bytes/,
    );
  });
});
