import { expect } from 'chai';
import { csvLine, readCsv } from '../../../src/domain/csv.ts';

describe('a line of CSV', () => {
  it('has its cells between commas, and ends with CRLF', () => {
    expect(csvLine(['a', 'b c', 'd'])).to.equal('a,b c,d\r\n');
    expect(csvLine(['a'])).to.equal('a\r\n');
  });

  it('has an empty cell for null, and the JSON text of numbers, flags, objects and lists', () => {
    expect(csvLine([null, 1.5, true, false, '', 0])).to.equal(',1.5,true,false,,0\r\n');
    expect(csvLine([{ a: null }, [1, 'x'], []])).to.equal('"{""a"":null}","[1,""x""]",[]\r\n');
  });

  it('quotes what would end a cell, and doubles quotes', () => {
    expect(csvLine(['a,b', 'say "yes"', 'a\nb', 'a\r\nb', ' a '])).to.equal(
      '"a,b","say ""yes""","a\nb","a\r\nb", a \r\n',
    );
  });

  it('keeps spreadsheets from taking a cell for a formula', () => {
    expect(csvLine(['=1+1', '+1', '-1', '@sum', '\tx'])).to.equal("'=1+1,'+1,'-1,'@sum,'\tx\r\n");
    expect(csvLine(['\r=1', '=a,"b"', -1, 'a=1', '\n=1'])).to.equal(`"'\r=1","'=a,""b""",'-1,a=1,"\n=1"\r\n`);
  });
});

describe('a text of CSV', () => {
  const cells = async (text: string, most = 10) => {
    const { lines, fault } = await readCsv(text, most);
    expect(fault, text).to.equal(null);
    return lines;
  };

  it('is read as it was written, whatever ends its lines', async () => {
    const values = ['a,b', 'say "yes"', '"', 'a\nb', '', ' a '];
    expect(await cells(csvLine(values) + csvLine(['x', 'y']))).to.deep.equal([values, ['x', 'y']]);
    for (const end of ['\n', '\r\n', '\r'])
      expect(await cells(`a,b${end}${end}c,""${end}`)).to.deep.equal([
        ['a', 'b'],
        ['c', ''],
      ]);
    expect(await cells('a,')).to.deep.equal([['a', '']]);
    expect(await cells('a,\n\n""\n,')).to.deep.equal([
      ['a', ''],
      ['', ''],
    ]);
    expect(await cells('\uFEFFa\nb')).to.deep.equal([['a'], ['b']]);
    for (const text of ['', '\n', '\uFEFF\r\n\r\n']) expect(await cells(text)).to.deep.equal([]);
  });

  it('is refused where a quote stands within a cell, or is not closed', async () => {
    for (const text of ['a\nb"c', '"a', '"a"b', '"a""', 'x,"'])
      expect((await readCsv(text, 10)).fault, text).to.match(/^Line [12] is no CSV/);
  });

  it('is read no further than it is asked for', async () => {
    expect(await cells('a\nb\nc"', 2)).to.deep.equal([['a'], ['b']]);
  });

  it('has lines of 65,536 characters at most', async () => {
    expect((await cells(csvLine(['"'.repeat(32_767)])))[0]?.[0]).to.have.length(32_767);
    for (const line of [
      'x'.repeat(65_537),
      '"'.repeat(70_000),
      ','.repeat(70_000),
      `"${'\n'.repeat(70_000)}"`,
    ])
      expect((await readCsv(`a\n${line}\n`, 10)).fault).to.match(/^Line 2 has more than 65536 characters/);
  });

  it('lets others go first now and then, if it is long', async () => {
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const line = '"'.repeat(65_534);
    await readCsv(`${line}\n`.repeat(64), 100);
    clearImmediate(next);
    expect(turns).to.be.greaterThan(0);
  });
});
