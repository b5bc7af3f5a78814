import { expect } from 'chai';
import { readDocument } from '../../../src/domain/parameter-document.ts';
import { inTheClear, isSealed, type Mapping } from '../../../src/domain/value.ts';
import { printYaml } from '../../../src/domain/yaml-printer.ts';
import { open, sealedKeyId, secretKey } from '../../../src/lib/sealed-text.ts';
import type { Threads } from '../../../src/lib/threads.ts';
import type { DocumentTasks } from '../../../src/resolve/document-tasks.ts';
import { Documents, newSource } from '../../../src/resolve/documents.ts';
import {
  type KeyRing,
  openLeaves,
  sealLeaves,
  sealValue,
  surveyLeaves,
  valueAt,
} from '../../../src/resolve/secret-leaves.ts';

const key = secretKey(Buffer.alloc(32, 7));
const keys: KeyRing = {
  generation: 1,
  key: (id) => (id === key.id ? key : null),
  evidenceKey: () => {
    throw new Error('not asked');
  },
};
const place = { configurationId: 'c', scopeTypeId: 't', ownerId: '' };
const SECURE: ReadonlySet<string> = new Set(['pw', 'creds']);
const SEALED = /"?ENC\[[0-9a-f]{16},[A-Za-z0-9+/=]+\]"?/g;
const source = (text: string, type: 'yaml' | 'json' = 'yaml') => newSource(Buffer.from(text), type);

function sealed(
  text: string,
  {
    type = 'yaml',
    earlier = [],
    secure = SECURE,
  }: { type?: 'yaml' | 'json'; earlier?: Mapping[]; secure?: ReadonlySet<string> | 'all' } = {},
) {
  return sealLeaves(source(text, type), { place, secure, key, keys, earlier, rekeys: false }).toString();
}
const opened = (text: string, type: 'yaml' | 'json' = 'yaml') =>
  openLeaves(readDocument(Buffer.from(text), type).document, place, keys);
const survey = (text: string) => surveyLeaves(source(text), { place, secure: SECURE, keys });
const codesOf = (text: string) => survey(text).faults.map(({ code, path }) => `${code} ${path}`);

/** The text as it was, with `*` in the place of each encrypted one. */
const marked = (text: string) => text.replace(SEALED, '*');

describe('secure leaves of a file that comes in', () => {
  const FORMS: [string, string, string][] = [
    ['plain', 'parameters:\n  pw: abc  # old\n  port: 1\n', 'parameters:\n  pw: *  # old\n  port: 1\n'],
    ['no value', 'parameters:\n  pw:   # none\n  port: 1\n', 'parameters:\n  pw: *   # none\n  port: 1\n'],
    ['no value at the end', 'parameters:\n  pw:', 'parameters:\n  pw: *'],
    [
      'flow',
      '{parameters: {pw: a, creds: {k:, l}, port: 1}}',
      '{parameters: {pw: *, creds: {k: *, l: *}, port: 1}}',
    ],
    ['JSON in YAML', '{"parameters":{"pw":"a","port":1}}', '{"parameters":{"pw":*,"port":1}}'],
    [
      'literal block',
      'parameters:\n  pw: | # why\n    a\n\n    b\n\n  port: 1\n',
      'parameters:\n  pw: * # why\n\n  port: 1\n',
    ],
    [
      'block that keeps its end',
      'parameters:\n  pw: |+\n    a\n\n  port: 1\n',
      'parameters:\n  pw: *\n  port: 1\n',
    ],
    ['block without an end of line', 'parameters:\n  pw: |\n    a', 'parameters:\n  pw: *'],
    [
      'folded over lines',
      'parameters:\n  pw: a\n    b\n    c\n  port: 1\n',
      'parameters:\n  pw: *\n  port: 1\n',
    ],
    [
      'on the next line',
      'parameters:\n  pw:\n    # why\n    "a"\n',
      'parameters:\n  pw:\n    # why\n    *\n',
    ],
    [
      'a tag',
      'parameters:\n  pw: !!str 7\n  creds: {a: !!int 7}\n',
      'parameters:\n  pw: *\n  creds: {a: *}\n',
    ],
    [
      'a list',
      'parameters:\n  creds:\n    a:\n      - 1\n      - x: 2 # c\n    b: 1\n',
      'parameters:\n  creds:\n    a:\n      * # c\n    b: *\n',
    ],
    [
      'a list below its key',
      'parameters:\n  creds: # why\n  - 1\n  - 2\n',
      'parameters:\n  creds: * # why\n',
    ],
    [
      'a list that ends in a block',
      'parameters:\n  creds:\n    - |\n      a\n\n  port: 1\n',
      'parameters:\n  creds:\n    *\n\n  port: 1\n',
    ],
    [
      'a key in quotes',
      'parameters:\n  "pw" : a\n  \'creds\':\n    "a/b~": 1\n',
      'parameters:\n  "pw" : *\n  \'creds\':\n    "a/b~": *\n',
    ],
    [
      'a key with a mark',
      'parameters:\n  ? pw\n  : a\n  ? creds\n  port: 1\n',
      'parameters:\n  ? pw\n  : *\n  ? creds\n  : *\n  port: 1\n',
    ],
    ['an empty mapping', 'parameters:\n  creds: {}\n', 'parameters:\n  creds: *\n'],
  ];
  for (const [name, text, wanted] of FORMS) {
    it(`stand in double quotes, and all else stays: ${name}`, () => {
      for (const [given, expected] of [
        [text, wanted],
        [text, wanted].map((each) => each.replaceAll('\n', '\r\n')),
      ] as [string, string][]) {
        const kept = sealed(given);
        expect(marked(kept)).to.equal(expected);
        expect(printYaml(inTheClear(opened(kept)))).to.equal(printYaml(opened(given)));
      }
    });
  }

  it('are those of JSON too, and a byte order mark stays', () => {
    const text =
      '\ufeff{ "parameters" : { "pw" : "a" , "creds":{"n":1.50e3,"l":[1, {"a":null}]}, "port":1.0 } }\n';
    const kept = sealed(text, { type: 'json' });
    expect(marked(kept)).to.equal(
      '\ufeff{ "parameters" : { "pw" : * , "creds":{"n":*,"l":*}, "port":1.0 } }\n',
    );
    expect(plain(kept, '/parameters/creds/n', 'json')).to.equal('1.50e3');
    expect(plain(kept, '/parameters/creds/l', 'json')).to.equal('[1,{"a":null}]');
  });

  it('are every leaf where nobody knows which are', () => {
    const kept = sealed('$schema: x\nparameters: {a: 1, b: {c: []}}\n', { secure: 'all' });
    expect(marked(kept)).to.equal('$schema: *\nparameters: {a: *, b: {c: *}}\n');
  });

  it('keep the digits that they had', () => {
    const kept = sealed(
      'parameters:\n  creds: {a: 1.50, b: 1e3, c: 12345678901234567890, d: .5, e: +7, f: 0x1F}\n',
    );
    const digits = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => plain(kept, `/parameters/creds/${name}`));
    expect(digits).to.deep.equal(['1.50', '1e3', '12345678901234567890', '0.5', '7', '31']);
  });

  it('keep their text where they are what they were, in the first of the earlier files that has them', () => {
    const first = sealed('parameters: {pw: a, creds: {k: 1, e: {}}}\n');
    const second = sealed('parameters: {pw: b, creds: {k: 1}}\n');
    const kept = sealed('parameters:\n  pw: a\n  creds: {k: 1, e: {}, n: 2}\n', {
      earlier: [opened(second), opened(first)],
    });
    const textAt = (text: string, pointer: string) =>
      valueAt(readDocument(Buffer.from(text), 'yaml').document, pointer);
    expect(textAt(kept, '/parameters/pw')).to.equal(textAt(first, '/parameters/pw'));
    expect(textAt(kept, '/parameters/creds/e')).to.equal(textAt(first, '/parameters/creds/e'));
    expect(textAt(kept, '/parameters/creds/k')).to.equal(textAt(second, '/parameters/creds/k'));
  });

  it('stay where they are encrypted already, or name what is stored elsewhere', () => {
    const once = sealed('parameters: {pw: a}\n');
    expect(sealed(once)).to.equal(once);
    const passed = `parameters:\n  pw: "[secret('a')]"\n  creds: {a: "[secret('a', 'it''s')]", b: "[envvar('X')]"}\n`;
    expect(sealed(passed)).to.equal(passed);
    for (const text of [
      "[concat('a', 'b')]",
      "[[secret('a')]",
      "[secret('x')] a",
      "[secret(concat('a'))]",
      "[secret('a')]x",
      "[secret('a', 'b', 'c')]",
    ])
      expect(survey(`parameters:\n  pw: ${JSON.stringify(text)}\n`).clear, text).to.deep.equal([
        '/parameters/pw',
      ]);
  });

  it('take no anchor, alias or merge key, and no number that JSON does not have', () => {
    const aliased: Record<string, string[]> = {
      'parameters:\n  pw: &a x\n': ['/parameters/pw'],
      'parameters:\n  note: &a x\n  pw: *a\n': ['/parameters/pw'],
      'parameters:\n  creds: &a {k: x}\n': ['/parameters/creds/k'],
      'parameters:\n  creds: {k: [&a x, 1]}\n': ['/parameters/creds/k'],
      'parameters:\n  tags: &b {k: x}\n  creds:\n    <<: *b\n    l: 1\n': [
        '/parameters/creds/<<~1k',
        '/parameters/creds/l',
      ],
      'parameters: {creds: {k: [.inf]}}\n': ['/parameters/creds/k'],
      'parameters: {pw: .nan}\n': ['/parameters/pw'],
    };
    for (const [text, paths] of Object.entries(aliased))
      expect(codesOf(text), text).to.deep.equal(
        paths.map((path) => `secret_alias ${path.replace('<<~1', '<</')}`),
      );
    expect(codesOf('parameters:\n  tags: {a: &t {k: v}, b: *t}\n  pw: x\n')).to.deep.equal([]);
  });
});

describe('encrypted texts of a file', () => {
  it('open at their place alone, within lists too', () => {
    const [text] = sealed('parameters: {pw: a}\n').match(SEALED) ?? [];
    const moved = survey(`parameters:\n  pw: ${text}\n  note: ${text}\n  list: [${text}]\n`);
    expect(moved.unreadable.map(({ pointer, isKeyMissing }) => [pointer, isKeyMissing])).to.deep.equal([
      ['/parameters/note', false],
      ['/parameters/list/0', false],
    ]);
    expect(moved.keyIds).to.deep.equal([key.id]);
    const foreign = survey(`parameters:\n  pw: ${text?.replace(key.id, '0123456789abcdef')}\n`);
    expect(foreign.unreadable).to.deep.equal([
      { pointer: '/parameters/pw', keyId: '0123456789abcdef', isKeyMissing: true },
    ]);
  });

  it('are shown to nobody by what prints documents', () => {
    const document = opened(sealed('parameters: {pw: abc, creds: {e: {}, l: [1]}}\n'));
    expect(printYaml(document)).to.equal(
      'parameters:\n  pw: "<redacted>"\n  creds:\n    e: "<redacted>"\n    l: "<redacted>"\n',
    );
    const secret = valueAt(document, '/parameters/pw');
    expect(isSealed(secret)).to.equal(true);
    expect(() => JSON.stringify(secret)).to.throw(TypeError);
    expect(() => `${secret as unknown as string}`).to.throw(TypeError);
  });
});

describe('encrypted texts under a new key', () => {
  const newest = secretKey(Buffer.alloc(32, 8));
  const both: KeyRing = { ...keys, key: (id) => [key, newest].find((each) => each.id === id) ?? null };
  const rekeyed = (text: string, type: 'yaml' | 'json' = 'yaml', earlier: Mapping[] = []) =>
    sealLeaves(source(text, type), {
      ...{ place, secure: SECURE, key: newest, keys: both, earlier, rekeys: true },
    }).toString();
  const openedBy = (ring: KeyRing, text: string, type: 'yaml' | 'json' = 'yaml') =>
    printYaml(inTheClear(openLeaves(readDocument(Buffer.from(text), type).document, place, ring)));
  const onlyNewest: KeyRing = { ...keys, key: (id) => (id === newest.id ? newest : null) };
  /** One text for each place, by the former key. */
  const textAt = (pointer: string, json: string) => sealValue(json, pointer, place, key);

  it('replace those of the former one and no other byte, whatever the leaf is called since', () => {
    for (const end of ['\n', '\r\n']) {
      const text = [
        '# ours',
        'parameters:',
        `  pw: "${textAt('/parameters/pw', '"a"')}"  # old`,
        `  note: '${textAt('/parameters/note', '7')}'`,
        `  list: [1, "${textAt('/parameters/list/1', '"b"')}", {k: "${textAt('/parameters/list/2/k', '"c"')}"}] # list`,
        '  creds: {new: in-the-clear}',
        '',
      ].join(end);
      const kept = rekeyed(text);
      const others = (each: string) =>
        each.replace(/["']?ENC\[[^\]]*\]["']?/g, '*').replace('in-the-clear', '*');
      expect(others(kept)).to.equal(others(text));
      expect(kept).to.not.include(key.id).and.to.not.include('in-the-clear');
      expect(openedBy(onlyNewest, kept)).to.equal(openedBy(keys, text));
      expect(rekeyed(kept), 'a second time').to.equal(kept);
    }
  });

  it('replace those of JSON too, where a program has written them with escapes', () => {
    const escaped = textAt('/parameters/pw', '"a"').replaceAll('+', '\\u002B').replaceAll('/', '\\/');
    const text = `\ufeff{"parameters": {"pw" : "${escaped}", "port": 1.0}}`;
    const kept = rekeyed(text, 'json');
    expect(marked(kept)).to.equal('\ufeff{"parameters": {"pw" : *, "port": 1.0}}');
    expect(openedBy(onlyNewest, kept, 'json')).to.equal(openedBy(keys, text, 'json'));
    const inList = textAt('/parameters/list/0', '"a"').replace('ENC', '\\u0045NC');
    expect(() => rekeyed(`{"parameters": {"list": ["${inList}"]}}`, 'json'))
      .to.throw(/written with escapes/)
      .with.property('code', 'secret_unreadable');
  });

  it('are those of an earlier file where these are by the new key and the same', () => {
    const text = `parameters: {pw: "${textAt('/parameters/pw', '"a"')}", creds: {k: "${textAt('/parameters/creds/k', '1')}"}}\n`;
    const earlier = [rekeyed(text), text].map((each) =>
      openLeaves(readDocument(Buffer.from(each), 'yaml').document, place, both),
    );
    expect(rekeyed(text, 'yaml', earlier)).to.equal(rekeyed(text, 'yaml', earlier));
    expect(rekeyed(text, 'yaml', earlier.slice(1))).to.not.include(key.id);
  });
});

function plain(text: string, pointer: string, type: 'yaml' | 'json' = 'yaml'): string {
  const sealedText = valueAt(readDocument(Buffer.from(text), type).document, pointer) as string;
  expect(sealedKeyId(sealedText)).to.equal(key.id);
  return open(key, { ...place, pointer }, sealedText).reveal();
}

describe('where a file with secrets is read', () => {
  const asked: string[] = [];
  const threads = {
    run: (_caller: string, name: string) => Promise.resolve(asked.push(name)),
  } as unknown as Threads<DocumentTasks>;
  const documents = new Documents(threads, keys);
  const lines = (count: number, value: (at: number) => string) =>
    `parameters:\n${Array.from({ length: count }, (_, at) => `  leaf${at}: ${value(at)}\n`).join('')}`;
  const readIn = async (text: string) => {
    asked.length = 0;
    await documents.run('anna', 'readDocument', { document: source(text) });
    return asked.length === 0 ? 'at once' : 'in a thread';
  };

  it('takes twenty encrypted texts at once, and as many letters of other YAML in a thread', async () => {
    const text = sealed(
      lines(20, (at) => `value-${at}`),
      { secure: 'all' },
    );
    expect(await readIn(text)).to.equal('at once');
    expect(await readIn(text.replaceAll('ENC[', 'enc['))).to.equal('in a thread');
  });

  it('takes more than that in a thread, and short texts that only look encrypted', async () => {
    expect(
      await readIn(
        sealed(
          lines(100, (at) => `value-${at}`),
          { secure: 'all' },
        ),
      ),
    ).to.equal('in a thread');
    expect(await readIn(lines(80, () => 'ENC[0123456789abcdef,A]'))).to.equal('in a thread');
  });
});
