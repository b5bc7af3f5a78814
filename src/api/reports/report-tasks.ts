/** Reads a report: its verdict, and the text of its result, which is kept as it came. */

import { memberText } from '../../domain/json-member.ts';
import { faultsOf, type ReportFaults } from '../../domain/report-faults.ts';
import { judgeReport, type ReportOperation, type Verdict } from '../../domain/report-verdict.ts';
import { decodeJson, parseJson, validate } from '../../http/validation.ts';
import { NewReport } from './schemas.ts';

export interface JudgedReport extends Verdict {
  operation: ReportOperation;
  hadErrors: boolean;
  /** What the report names as run, in lower case. */
  checksum: string | null;
  faults: ReportFaults;
  /** The text of the member `result`. */
  result: string;
}

/** A large report is read in a thread, so that it holds up no other call. */
export const reportTasks = {
  /** @throws HawserError `validation_failed` */
  judgeReport({ bytes }: { bytes: Uint8Array }): JudgedReport {
    const text = decodeJson(bytes);
    const report = validate(NewReport, parseJson(text), 'body');
    const { operation, result, configurationChecksum: checksum = null } = report;
    const { hadErrors } = result;
    return {
      operation,
      hadErrors,
      checksum,
      ...judgeReport(operation, result),
      faults: faultsOf(result),
      result: memberText(text, 'result'),
    };
  },
};

export type ReportTasks = typeof reportTasks;
