import { expect } from 'chai';
import { csvLine } from '../../../src/domain/csv.ts';

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
