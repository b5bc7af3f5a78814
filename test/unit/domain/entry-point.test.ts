import { expect } from 'chai';
import { readEntryPoint } from '../../../src/domain/entry-point.ts';

const SCHEMA = 'https://aka.ms/dsc/schemas/v3/bundled/config/document.json';
const HEAD = `$schema: ${SCHEMA}\n`;
const RESOURCES = 'resources:\n- name: a\n  type: T/T\n';

const read = (content: string | Buffer) => readEntryPoint(Buffer.from(content));
const told = (content: string | Buffer) =>
  read(content).findings.map(({ code, line, path }) => `${code} ${line} ${path}`);
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const nested = (depth: number) => `${'{b: '.repeat(depth)}1${'}'.repeat(depth)}`;

/** What nobody can read, and the one finding. */
const UNREADABLE: readonly [string, string | Buffer, string][] = [
  ['UTF-16 in the order of Windows', utf16(HEAD + RESOURCES), 'document_encoding 1 null'],
  ['UTF-16 in the other order', utf16(HEAD).swap16(), 'document_encoding 1 null'],
  ['UTF-16 without a mark', Buffer.from(HEAD, 'utf16le'), 'document_encoding 1 null'],
  ['Latin-1', Buffer.from(`${HEAD}metadata: {a: ü}\n`, 'latin1'), 'document_encoding 2 null'],
  ['half a character', Buffer.concat([Buffer.from(HEAD), Buffer.from([0xc3])]), 'document_encoding 2 null'],
  ['an open bracket', `${HEAD}resources: [`, 'document_syntax 2 null'],
  ['a tab as indentation', `${HEAD}resources:\n\t- type: T/T\n`, 'document_syntax 3 null'],
  ['an empty line with a tab', `${HEAD}${RESOURCES}\t\nmetadata: {}\n`, 'document_syntax 5 null'],
  ['a comment behind a tab', `${HEAD}${RESOURCES}\t# c\n`, 'document_syntax 5 null'],
  ['a tab behind a dash', `${HEAD}resources:\n-\ttype: T/T\n`, 'document_syntax 3 null'],
  ['a tab within plain text', `${HEAD}${RESOURCES}metadata:\n  a: b\n \t\n    c\n`, 'document_syntax 7 null'],
  ['a tab before a block', `${HEAD}${RESOURCES}metadata:\n  a: |\n    \tmake\n`, 'document_syntax 7 null'],
  ['a tab within a block', `${HEAD}${RESOURCES}metadata:\n  a: |\n    b\n\t\n`, 'document_syntax 8 null'],
  ['a hidden line', `${HEAD}# c\u2028resources: []\n${RESOURCES}`, 'document_syntax 2 null'],
  ['another hidden line', `${HEAD}# c\u0085resources: []\n${RESOURCES}`, 'document_syntax 2 null'],
  ['a control character', `${HEAD}${RESOURCES}metadata: {a: "\u009f"}\n`, 'document_syntax 5 null'],
  ['two files with marks in one', `${HEAD}\ufeff${RESOURCES}`, 'document_syntax 2 null'],
  ['an anchor with a dot', `${HEAD}${RESOURCES}metadata: {a: &b.c 1, d: *b.c}\n`, 'document_syntax 5 null'],
  ['a missing key', `${HEAD}${RESOURCES}metadata:\n  : a\n`, 'document_syntax 6 null'],
  ['a key twice', `${HEAD}${RESOURCES}resources: []\n`, 'document_syntax 5 null'],
  ['a key twice in JSON', `{"$schema": "x",\n"resources": [],\n"resources": []}`, 'document_syntax 3 null'],
  ['a bracket too few in JSON', `{"$schema": "x",\n"resources": [`, 'document_syntax 2 null'],
  ['an unknown alias', `${HEAD}${RESOURCES}metadata: {a: *b}\n`, 'document_syntax 5 null'],
  [
    'a value that its tag does not suit',
    `${HEAD}${RESOURCES}metadata: {a: !!int b}\n`,
    'document_syntax 5 null',
  ],
  ['10,000 levels', `${HEAD}${RESOURCES}metadata: ${nested(10_000)}\n`, 'document_syntax 5 null'],
  ['nothing', '', 'document_shape 1 null'],
  ['a comment', '# nothing\n', 'document_shape 1 null'],
  ['a word', 'hello', 'document_shape 1 null'],
  ['a list', '- a\n', 'document_shape 1 null'],
  ['two documents', `${HEAD}${RESOURCES}---\n${HEAD}${RESOURCES}`, 'document_shape 5 null'],
];

/** Where the rest of a document is not of the type that dsc takes, behind `$schema` in line 1. */
const WRONG: readonly [string, string][] = [
  ['resources: []\ncontentVersion: 1.0\n', 'document_shape 3 /contentVersion'],
  ['resources: {}\n', 'document_shape 2 /resources'],
  ['resources:\n', 'document_shape 2 /resources'],
  ['resources:\n- T/T\n', 'document_shape 3 /resources/0'],
  ['resources:\n- name: a\n', 'document_shape 3 /resources/0'],
  ['resources:\n- {type: T, name: a}\n', 'document_shape 3 /resources/0/type'],
  ['resources:\n- {type: A.B.C.D/T, name: a}\n', 'document_shape 3 /resources/0/type'],
  ['resources:\n- {type: T/T, name: 7}\n', 'document_shape 3 /resources/0/name'],
  ['resources:\n- {type: T/T, name: null}\n', 'document_shape 3 /resources/0/name'],
  ['resources:\n- type: T/T\n  dependsOn: [1]\n', 'document_shape 4 /resources/0/dependsOn/0'],
  ['resources:\n- type: T/T\n  copy: [1]\n', 'document_shape 4 /resources/0/copy'],
  ['resources:\n- type: T/T\n  resources:\n  - name: a\n', 'document_shape 5 /resources/0/resources/0'],
  ['resources: []\nparameters: {p: {type: float}}\n', 'document_shape 3 /parameters/p/type'],
  ['resources: []\nparameters: {p: {}}\n', 'document_shape 3 /parameters/p'],
  ['resources: []\nparameters: {p: {type: int, minValue: 1.5}}\n', 'document_shape 3 /parameters/p/minValue'],
  [
    'resources: []\nfunctions: [{namespace: a, members: {f: {}}}]\n',
    'document_shape 3 /functions/0/members/f',
  ],
  ['resources: []\noutputs: {o: {value: a}}\n', 'document_shape 3 /outputs/o'],
  ['resources: []\noutputs: {o: {type: int}}\n', 'document_shape 3 /outputs/o'],
  ['resources: []\noutputs: {o: {type: int, value: }}\n', 'document_shape 3 /outputs/o/value'],
  [
    'resources: []\nparameters: {p: {type: int, maxValue: 9223372036854775808}}\n',
    'document_shape 3 /parameters/p/maxValue',
  ],
  [
    'resources:\n- type: Microsoft.DSC/Group\n  properties:\n    resources:\n    - name: a\n',
    'document_shape 6 /resources/0/properties/resources/0',
  ],
];

/** What is worth a word, behind `$schema` in line 1. */
const WARNED: readonly [string, string[]][] = [
  [`${RESOURCES}resorces: []\n`, ['unknown_member 5 /resorces']],
  ['resources:\n- {type: T/T, nam: a}\n', ['unknown_member 3 /resources/0/nam']],
  ['resources: []\nparameters: {p: {type: int, min: 1}}\n', ['unknown_member 3 /parameters/p/min']],
  ['resources:\n- {type: T/T, name: a}\n- {type: t/t, name: a}\n', ['duplicate_name 4 /resources/1']],
  [
    `resources: []\nvariables:\n  a: "[concat(parameters('x'), parameters( 'y' ))]"\n  b: "[[parameters('z')]"\n  c: "[my.parameters('z')]"\n`,
    ['undeclared_parameter 4 /variables/a', 'undeclared_parameter 4 /variables/a'],
  ],
  [
    `resources: []\nparameters: {x: {type: int}}\nfunctions:\n- namespace: my\n  members:\n    f:\n      parameters: [{name: own, type: int}]\n      output: {type: string, value: "[concat(parameters('own'), parameters('x'))]"}\n`,
    ['undeclared_parameter 9 /functions/0/members/f/output/value'],
  ],
  [
    `resources:\n- type: Microsoft.DSC/Group\n  properties:\n    parameters: {x: {type: int}}\n    resources:\n    - {type: T/T, name: "[parameters('x')]"}\n    - {type: T/T, name: "[parameters('y')]"}\n`,
    ['undeclared_parameter 8 /resources/0/properties/resources/1/name'],
  ],
  [
    'resources: []\nparameters:\n  a: {type: secureString, defaultValue: b}\n  c: {type: secureObject, defaultValue: {}}\n  d: {type: secureString, defaultValue: "[envvar(\'D\')]"}\n',
    ['secret_default 4 /parameters/a/defaultValue', 'secret_default 5 /parameters/c/defaultValue'],
  ],
  [
    'resources: []\nmetadata:\n  a: !!binary aGVsbG8=\n  b: !x {c: !!str 1}\n',
    ['tag_not_read 4 /metadata/a', 'tag_not_read 5 /metadata/b'],
  ],
];

describe('reading an entry point', () => {
  for (const [name, content, finding] of UNREADABLE)
    it(`tells why it cannot be read: ${name}`, () => {
      expect(told(content)).to.deep.equal([finding]);
      expect(read(content).document).to.equal(null);
    });

  for (const [rest, finding] of WRONG)
    it(`tells what dsc does not take: ${JSON.stringify(rest)}`, () => {
      expect(told(HEAD + rest)).to.deep.equal([finding]);
      expect(read(HEAD + rest).findings[0]?.severity).to.equal('Error');
      expect(read(HEAD + rest).document).to.equal(null);
    });

  for (const [rest, findings] of WARNED)
    it(`warns, and reads it: ${JSON.stringify(rest)}`, () => {
      expect(told(HEAD + rest)).to.deep.equal(findings);
      expect(read(HEAD + rest).document).not.to.equal(null);
    });

  it('names the directives that it reads', () => {
    const [finding] = read(`%YAML 1.3\n---\n${HEAD}${RESOURCES}`).findings;
    expect(finding?.message).to.equal('Only the directives "%YAML 1.1", "%YAML 1.2" and "%TAG" are read.');
  });

  it('requires $schema and resources', () => {
    expect(told('metadata: {}\n')).to.deep.equal(['document_shape 1 ', 'document_shape 1 ']);
  });

  it('tells everything that is wrong, in order of line', () => {
    const content = `${HEAD}contentVersion: 1.0\nresources:\n- name: a\n- {}\n- type: T/T\n  properties: []\n`;
    expect(read(content).findings.map(({ line }) => line)).to.deep.equal([2, 4, 5, 7]);
  });

  it('reads what dsc reads', () => {
    const content = HEAD + RESOURCES;
    const json = JSON.stringify({ $schema: SCHEMA, resources: [{ type: 'T/T' }] }, null, '\t');
    const fine = [
      `\ufeff${content}`,
      json,
      `\ufeff${json}`,
      content.replaceAll('\n', '\r\n'),
      `${HEAD}resources:\t# tabs\n- type:\tT/T\t\n  properties: {\n    \ta: "b\n    \tc"\n  }\n`,
      `${content}metadata:\n  a: |\n    b\n    \tc\n  d: e\n    \t\n    f\n`,
      `${content}metadata: {a: "\\u2028\\x9f", b: &c_1-d \ufeffe}\n`,
      `{"$schema": "x", "resources": [],\t"metadata": {"a": "\u2028\u0085\u009f"}}`,
      `%YAML 1.1\n---\n${content}...\n`,
      `%YAML 1.2\n---\n${content}`,
      `${HEAD}resources: [{type: Größe.Maß/Tür}]\noutputs: {o: {type: array, copy: {name: a, count: 2}}}\n`,
      `${HEAD}variables:\nmetadata: null\nresources:\n- type: T/T\n  condition:\n`,
      `${content}metadata: {a: &x [1, 2], b: *x, c: ${nested(50)}}\n`,
    ];
    for (const each of fine) expect(told(each), each).to.deep.equal([]);
  });

  it('gives the places of findings in JSON, with escapes in keys, and in what an alias stands for', () => {
    const json = `{"$schema": "x",\n "resources": [],\n "res\\u006frces": [],\n  "a/b": {}}`;
    expect(told(json)).to.deep.equal(['unknown_member 3 /resorces', 'unknown_member 4 /a~1b']);
    const yaml = `${HEAD}resources: []\nmetadata:\n  a: &x {b: "[parameters('p')]"}\n  c: *x\n`;
    expect(told(yaml)).to.deep.equal([
      'undeclared_parameter 4 /metadata/a/b',
      'undeclared_parameter 5 /metadata/c/b',
    ]);
  });

  it('names the files that it includes by a relative path', () => {
    const include = (files: string) =>
      read(`${HEAD}resources:\n- {type: microsoft.dsc/include, properties: ${files}}\n`).includes.map(
        ({ target, path, line }) => `${target} ${path} ${line}`,
      );
    expect(include('{configurationFile: ./a.yaml, parametersFile: b\\c.yaml}')).to.deep.equal([
      './a.yaml /resources/0/properties/configurationFile 3',
      'b\\c.yaml /resources/0/properties/parametersFile 3',
    ]);
    for (const file of ['/a.yaml', 'C:\\a.yaml', '\\\\server\\a.yaml', `"[path('a.yaml')]"`])
      expect(include(`{configurationFile: ${file}}`), file).to.deep.equal([]);
  });

  it('shows what is invisible in names by numbers, so that no terminal is steered by a finding', () => {
    const [finding] = read(`${HEAD}resources: []\n"a\\x9b\\u202e\\u2028\\e": 1\n`).findings;
    const [slash] = read(`${HEAD}a: "\\\u202e"\n`).findings;
    expect(slash?.message).to.equal('Invalid escape sequence \\\\u{202e}');
    expect(finding?.message).to.include('"a\\u{9b}\\u{202e}\\u{2028}\\u001b"');
  });

  it('repeats no value of the document', () => {
    const contents = [
      `${HEAD}resources: geheim\n`,
      `${HEAD}resources: []\nparameters: {p: {type: geheim, defaultValue: geheim, description: [geheim]}}\n`,
      `${HEAD}resources: []\nmetadata: !!int geheim\n`,
      `{"$schema": "geheim" geheim}`,
      `${HEAD}resources: []\nmetadata: |geheim\n`,
    ];
    for (const each of contents) expect(JSON.stringify(read(each).findings)).not.to.include('geheim');
  });
});
