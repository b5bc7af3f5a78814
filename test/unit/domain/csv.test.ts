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
  const cells = (text: string) => {
    const { lines, fault } = readCsv(text);
    expect(fault, text).to.equal(null);
    return lines;
  };

  it('is read as it was written, whatever ends its lines', () => {
    const values = ['a,b', 'say "yes"', '"', 'a\nb', '', ' a '];
    expect(cells(csvLine(values) + csvLine(['x', 'y']))).to.deep.equal([values, ['x', 'y']]);
    for (const end of ['\n', '\r\n', '\r'])
      expect(cells(`a,b${end}${end}c,""${end}`)).to.deep.equal([
        ['a', 'b'],
        ['c', ''],
      ]);
    expect(cells('a,')).to.deep.equal([['a', '']]);
    expect(cells('\uFEFFa\nb')).to.deep.equal([['a'], ['b']]);
    expect(cells('')).to.deep.equal([]);
  });

  it('is refused where a quote stands within a cell, or is not closed', () => {
    for (const text of ['a\nb"c', '"a', '"a"b', '"a""', 'x,"'])
      expect(readCsv(text).fault, text).to.match(/^Line [12] is no CSV/);
  });

  it('of one long cell takes no time worth mentioning', () => {
    const long = 'x'.repeat(2_000_000);
    expect(cells(`"${long}"`)[0]?.[0]).to.have.length(2_000_000);
    expect(cells(csvLine(['"'.repeat(100_000)]))[0]?.[0]).to.have.length(100_000);
  });
});
