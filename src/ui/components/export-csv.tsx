/** The button that saves all that a list's filter meets. */

import { saveCsv } from '../csv.ts';
import { DeedButton } from './dialog.tsx';

/** @param path the list with its filters, below /api/v1 */
export function ExportCsv({ path, fileName }: { path: string; fileName: string }) {
  return (
    <DeedButton
      deed="Export CSV"
      run={async () => {
        await saveCsv(path, fileName);
        return `${fileName} was saved.`;
      }}
    />
  );
}
