/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function NodeReportsPage() {
  return <Page heading="NodeReports" />;
}
