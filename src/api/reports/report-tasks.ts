/** Reads a report: its verdict, and the text of its result, which is kept as it came. */

import type { JudgedReport } from '../../deeds/take-report.ts';
import { memberText } from '../../domain/json-member.ts';
import { faultsOf } from '../../domain/report-faults.ts';
import { judgeReport } from '../../domain/report-verdict.ts';
import { decodeJson, parseJson, validate } from '../../http/validation.ts';
import { NewReport } from './schemas.ts';

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
