import { expect } from 'chai';
import type { Polled, SignatureAnswer } from '../../../src/agent/node-api.ts';
import { checkFiles, checkTags, SignatureRefused } from '../../../src/agent/signed-bundle.ts';
import { readAllowedSigners } from '../../../src/domain/allowed-signers.ts';
import { printIncludeDocument } from '../../../src/domain/composite-document.ts';
import type { HashedFile } from '../../../src/domain/signed-tag.ts';
import { sha256Hex } from '../../../src/lib/hash.ts';
import { newSshKey, signedTag, type TagOf, tagPayload } from '../../support/ssh-keys.ts';

const [ADA, BOB] = [newSshKey(), newSshKey()];
const { signers: SIGNERS } = readAllowedSigners(`ada@example.com ${ADA.publicLine}`);
const CHECKSUM = 'c'.repeat(64);

function file(path: string, content = path, isExecutable = false): HashedFile {
  return { path, isExecutable, sha256: sha256Hex(content) };
}

const OWN = [file('main.dsc.yaml'), file('scripts/run.sh', '#!/bin/sh', true)];

/** What a server gives, which a test changes before it is checked. */
interface Given {
  polled: Polled;
  answer: SignatureAnswer;
  files: HashedFile[];
  document: string;
}

function part(name: string, tag: TagOf = {}, folder = '', key = ADA): SignatureAnswer['parts'][number] {
  const { version = '1.0.0' } = tag;
  const raw = signedTag(key, { configurationName: name, files: OWN, ...tag });
  return { configurationName: name, version, folder, tagObject: raw.toString('base64') };
}

function configuration(): Given {
  const named = { configurationName: 'web', version: '1.0.0', checksum: CHECKSUM };
  return {
    polled: { ...named, entryPoint: 'main.dsc.yaml', parametersFile: null },
    answer: { ...named, isComposite: false, parts: [part('web')] },
    files: [...OWN],
    document: '$schema: x\nresources: []\n',
  };
}

function composite(): Given {
  const named = { configurationName: 'site', version: '3.0.0', checksum: CHECKSUM };
  const children = ['web', 'db'].map((name) => ({
    name,
    configurationFile: `${name}/main.dsc.yaml`,
    parametersFile: name === 'db' ? 'db/parameters.yaml' : null,
  }));
  const document = printIncludeDocument('main.dsc.yaml', children);
  const inside = ['web', 'db'].flatMap((name) =>
    OWN.map((each) => ({ ...each, path: `${name}/${each.path}` })),
  );
  return {
    polled: { ...named, entryPoint: 'main.dsc.yaml', parametersFile: null },
    answer: { ...named, isComposite: true, parts: [part('web', {}, 'web/'), part('db', {}, 'db/')] },
    files: [file('main.dsc.yaml', document), ...inside, file('db/parameters.yaml', 'parameters: {}')],
    document,
  };
}

/** The reason of a refusal; null where the bundle may run. */
function verdict({ polled, answer, files, document }: Given, signers = SIGNERS): string | null {
  try {
    const parts = checkTags(polled, answer, signers);
    checkFiles(polled, { isComposite: answer.isComposite, parts }, files, document);
    return null;
  } catch (error) {
    if (error instanceof SignatureRefused) return error.reason;
    throw error;
  }
}

type Lie = [name: string, reason: string, lie: (given: Given) => void];

describe('a bundle that only signed versions may be in', () => {
  it('runs when a signer has signed its tag and its files', () => {
    expect(verdict(configuration())).to.equal(null);
  });

  it('may have merged parameters beside the signed files', () => {
    const given = configuration();
    given.files.push(file('parameters.yaml', 'parameters: {}'));
    expect(verdict(given)).to.equal(null);
    given.polled.parametersFile = 'parameters.yaml';
    expect(verdict(given)).to.equal(null);
  });

  it('may have parameters that are signed', () => {
    const given = configuration();
    const files = [...OWN, file('parameters.yaml', 'parameters: {}')];
    given.answer.parts = [part('web', { files })];
    given.files = files;
    given.polled.parametersFile = 'parameters.yaml';
    expect(verdict(given)).to.equal(null);
    given.files = [...OWN, file('parameters.yaml', 'parameters: {evil: true}')];
    expect(verdict(given)).to.equal('wrong_files');
    given.files = [...OWN];
    expect(verdict(given)).to.equal('wrong_files');
  });

  it('runs although its signer may sign no more, when the tag is from before that', () => {
    const before = Date.UTC(2025, 5, 1);
    const given = configuration();
    given.answer.parts = [part('web', { time: before })];
    const until = (day: string) => readAllowedSigners(`ada valid-before="${day}" ${ADA.publicLine}`).signers;
    expect(verdict(given, until('20250701'))).to.equal(null);
    expect(verdict(given, until('20250501'))).to.equal('expired');
  });

  const LIES: Lie[] = [
    ['a file is another', 'wrong_files', ({ files }) => (files[1] = file('scripts/run.sh', 'evil', true))],
    [
      'a file is executable',
      'wrong_files',
      ({ files }) => (files[0] = file('main.dsc.yaml', undefined, true)),
    ],
    [
      'a file is not executable any more',
      'wrong_files',
      ({ files }) => (files[1] = file('scripts/run.sh', '#!/bin/sh')),
    ],
    ['a file is missing', 'wrong_files', ({ files }) => files.pop()],
    ['a file is added', 'wrong_files', ({ files }) => files.push(file('evil.ps1'))],
    [
      'merged parameters are executable',
      'wrong_files',
      ({ files }) => files.push(file('parameters.yaml', 'x', true)),
    ],
    ['parameters stand deeper', 'wrong_files', ({ files }) => files.push(file('scripts/parameters.yaml'))],
    [
      'a signed file is named as parameters',
      'wrong_files',
      ({ polled }) => (polled.parametersFile = 'scripts/run.sh'),
    ],
    [
      'the entry point is another file',
      'wrong_entry_point',
      ({ polled }) => (polled.entryPoint = 'scripts/run.sh'),
    ],
    ['the checksum is another', 'wrong_checksum', ({ answer }) => (answer.checksum = 'd'.repeat(64))],
    [
      'the answer names another configuration',
      'wrong_name',
      ({ answer }) => (answer.configurationName = 'db'),
    ],
    ['the answer names another version', 'wrong_version', ({ answer }) => (answer.version = '2.0.0')],
    [
      'everything names another configuration than the tag',
      'wrong_name',
      ({ polled, answer }) => {
        polled.configurationName = answer.configurationName = 'db';
        for (const each of answer.parts) each.configurationName = 'db';
      },
    ],
    [
      'everything names another version than the tag',
      'wrong_version',
      ({ polled, answer }) => {
        polled.version = answer.version = '2.0.0';
        for (const each of answer.parts) each.version = '2.0.0';
      },
    ],
    [
      'the polled version is another than the part',
      'wrong_version',
      ({ polled, answer }) => (polled.version = answer.version = '2.0.0'),
    ],
    ['the tag is another configuration', 'wrong_name', ({ answer }) => (answer.parts = [part('db')])],
    [
      'the tag is of another version',
      'wrong_version',
      ({ answer }) => (answer.parts = [{ ...part('web', { version: '0.9.0' }), version: '1.0.0' }]),
    ],
    [
      'somebody else has signed',
      'unknown_signer',
      ({ answer }) => (answer.parts = [part('web', {}, '', BOB)]),
    ],
    [
      'the tag has no signature',
      'no_signature',
      ({ answer }) => {
        const tagObject = Buffer.from(tagPayload({ configurationName: 'web', files: OWN })).toString(
          'base64',
        );
        answer.parts = [{ ...part('web'), tagObject }];
      },
    ],
    [
      'the tag is damaged',
      'bad_signature',
      ({ answer }) => {
        const [only] = answer.parts;
        const text = Buffer.from(only?.tagObject ?? '', 'base64')
          .toString('latin1')
          .replace('Release', 'release');
        answer.parts = [{ ...part('web'), tagObject: Buffer.from(text, 'latin1').toString('base64') }];
      },
    ],
    [
      'the tag is no base64',
      'bad_format',
      ({ answer }) => (answer.parts = [{ ...part('web'), tagObject: '*' }]),
    ],
    [
      'the tag has no entry point',
      'wrong_entry_point',
      ({ answer }) => (answer.parts = [part('web', { entryPoint: '' })]),
    ],
    ['there is no part', 'no_signature', ({ answer }) => (answer.parts = [])],
    ['there are two parts', 'wrong_name', ({ answer }) => answer.parts.push(part('web'))],
    ['the part is in a folder', 'wrong_files', ({ answer }) => (answer.parts = [part('web', {}, 'web/')])],
  ];
  for (const [name, reason, lie] of LIES)
    it(`is refused as ${reason} when ${name}`, () => {
      const given = configuration();
      lie(given);
      expect(verdict(given)).to.equal(reason);
    });
});

describe('a bundle of a composite that only signed versions may be in', () => {
  it('runs when each part is signed, and its document includes them in order', () => {
    expect(verdict(composite())).to.equal(null);
    const given = composite();
    given.document = printIncludeDocument('x.json', [
      { name: 'web', configurationFile: 'web/main.dsc.yaml', parametersFile: null },
      { name: 'db', configurationFile: 'db/main.dsc.yaml', parametersFile: 'db/parameters.yaml' },
    ]);
    expect(verdict(given)).to.equal(null);
  });

  const document = (change: (text: string) => string) => (given: Given) => {
    const changed = change(given.document);
    expect(changed).to.not.equal(given.document);
    given.document = changed;
  };
  const LIES: Lie[] = [
    ['has another member', 'wrong_document', document((text) => `${text}parameters: {}\n`)],
    ['has no schema', 'wrong_document', document((text) => text.replace(/^\$schema.*\n/, ''))],
    [
      'has a resource of another type',
      'wrong_document',
      document((text) => text.replace('Microsoft.DSC/Include', 'Microsoft.DSC.Transitional/RunCommandOnSet')),
    ],
    [
      'has a resource more',
      'wrong_document',
      document((text) => `${text}  - name: evil\n    type: Test/Evil\n`),
    ],
    [
      'includes a file that is not the entry point',
      'wrong_document',
      document((text) => text.replace('web/main.dsc.yaml', 'web/scripts/run.sh')),
    ],
    ['includes one part twice', 'wrong_document', document((text) => text.replace(/"db/g, '"web'))],
    [
      'leaves merged parameters out',
      'wrong_document',
      document((text) => text.replace(/ +parametersFile.*\n/, '')),
    ],
    [
      'gives a part the parameters of another',
      'wrong_document',
      document((text) =>
        text.replace(
          '"web/main.dsc.yaml"',
          '"web/main.dsc.yaml"\n      parametersFile: "db/parameters.yaml"',
        ),
      ),
    ],
    [
      'has parameters as text',
      'wrong_document',
      document((text) => text.replace('parametersFile: "db/parameters.yaml"', 'parametersContent: "x"')),
    ],
    [
      'has a member in a resource',
      'wrong_document',
      document((text) => text.replace('    type:', '    dependsOn: []\n    type:')),
    ],
    [
      'names a resource by an expression',
      'wrong_document',
      document((text) => text.replace('name: "web"', 'name: "[evil()]"')),
    ],
    ['is no YAML', 'wrong_document', document(() => 'resources: [')],
    ['has a key twice', 'wrong_document', document((text) => `${text}resources: []\n`)],
    ['is several documents', 'wrong_document', document((text) => `${text}---\nresources: []\n`)],
  ];
  for (const [name, reason, lie] of LIES)
    it(`is refused when its document ${name}`, () => {
      const given = composite();
      lie(given);
      expect(verdict(given)).to.equal(reason);
    });

  const OTHERS: Lie[] = [
    [
      'the order of the parts is another than that of the document',
      'wrong_document',
      ({ answer }) => answer.parts.reverse(),
    ],
    ['a file beside the parts is added', 'wrong_files', ({ files }) => files.push(file('evil.yaml'))],
    [
      'the document is executable',
      'wrong_files',
      ({ files }) => (files[0] = file('main.dsc.yaml', 'x', true)),
    ],
    ['a part has another file', 'wrong_files', ({ files }) => files.push(file('web/evil.yaml'))],
    [
      'a file moves from one part to another',
      'wrong_files',
      ({ files }) => (files[1] = file('db/web.dsc.yaml')),
    ],
    [
      'a part stands in the folder of another name',
      'wrong_name',
      ({ answer }) => (answer.parts[0] = part('web', {}, 'x/')),
    ],
    ['a part stands in no folder', 'wrong_name', ({ answer }) => (answer.parts[0] = part('web'))],
    ['a part is there twice', 'wrong_name', ({ answer }) => (answer.parts[1] = part('web', {}, 'web/'))],
    [
      'one part is not signed',
      'unknown_signer',
      ({ answer }) => (answer.parts[1] = part('db', {}, 'db/', BOB)),
    ],
    [
      'it has parameters of its own',
      'wrong_files',
      ({ polled }) => (polled.parametersFile = 'db/parameters.yaml'),
    ],
    [
      'the entry point is a file of a part',
      'wrong_files',
      ({ polled }) => (polled.entryPoint = 'web/main.dsc.yaml'),
    ],
    ['it says that it is none', 'wrong_name', ({ answer }) => (answer.isComposite = false)],
  ];
  for (const [name, reason, lie] of OTHERS)
    it(`is refused as ${reason} when ${name}`, () => {
      const given = composite();
      lie(given);
      expect(verdict(given)).to.equal(reason);
    });
});
