import { expect } from 'chai';
import fc from 'fast-check';
import { memberText } from '../../../src/domain/json-member.ts';

describe("a member's own text", () => {
  const cut: [string, string][] = [
    ['{"result":{"a":1}}', '{"a":1}'],
    [' \n{ "operation" : "Test" ,\t"result" : { "a" : [ 1 , 2 ] } , "x": {} } ', '{ "a" : [ 1 , 2 ] }'],
    ['{"result":12345678901234567890.10e+2}', '12345678901234567890.10e+2'],
    ['{"result":12345678901234567890,"x":1}', '12345678901234567890'],
    ['{"result": null }', 'null'],
    ['{"a":[true,false,null,-0.0],"result":[]}', '[]'],
    ['{"a":"}","b":"\\"result\\":1","result":"\\\\\\"{","c":"["}', '"\\\\\\"{"'],
    ['{"a":{"result":1},"result":{"result":2}}', '{"result":2}'],
    ['{"result":{"first":1},"result":{"last":2}}', '{"last":2}'],
    ['{"res\\u0075lt":"by an escape"}', '"by an escape"'],
    ['{"result":{"text":"\\ud800 \\u0000 ü 🙂"}}', '{"text":"\\ud800 \\u0000 ü 🙂"}'],
  ];
  for (const [json, text] of cut) {
    it(`is cut out of ${json}`, () => expect(memberText(json, 'result')).to.equal(text));
  }

  it('means what the whole text means, whatever JSON it is', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue(),
        fc.nat(3),
        (others, value, indent) => {
          const json = JSON.stringify({ ...others, result: value }, null, indent);
          expect(memberText(json, 'result')).to.equal(
            JSON.stringify(value, null, indent).replaceAll(
              '\n',
              indent > 0 ? `\n${' '.repeat(indent)}` : '\n',
            ),
          );
          expect(JSON.parse(memberText(json, 'result'))).to.deep.equal(JSON.parse(json).result);
        },
      ),
    );
  });

  it('is found among megabytes of text, of backslashes and of brackets', () => {
    const size = 5_000_000;
    const others = `"a":"${'x'.repeat(size)}","b":"${'\\\\'.repeat(size / 2)}","c":"${'\\"'.repeat(size / 2)}"`;
    const deep = '['.repeat(size) + ']'.repeat(size);
    expect(memberText(`{${others},"result":${deep}}`, 'result')).to.have.length(2 * size);
  });
});
